/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mm_cpumask.running: when switch_mm_irqs_off() returns, this CPU's bit is set in mm_cpumask(next) (x86).
 *
 * Source: arch/x86/mm/tlb.c. flush_tlb_mm_range() sends no IPI to a CPU outside the mask, so a CPU that has the mm
 * loaded without its bit keeps stale translations.
 *
 * Sound: interrupts are off from the store to the check, and a CPU's bit is cleared by that CPU alone
 * (switch_mm_irqs_off() itself, and flush_tlb_func(), which runs in an interrupt).
 */
#ifndef KWITNESS_MM_CPUMASK_H
#define KWITNESS_MM_CPUMASK_H

#define BITS_PER_MASK_WORD 64

/* Where the bit of @cpu lies in a cpumask: the byte offset of its word. */
static inline unsigned int mm_cpumask_word_offset(unsigned int cpu)
{
	return cpu / BITS_PER_MASK_WORD * (BITS_PER_MASK_WORD / 8);
}

static inline int mm_cpumask_has_cpu(unsigned long long word, unsigned int cpu)
{
	return word >> (cpu % BITS_PER_MASK_WORD) & 1;
}

#endif /* KWITNESS_MM_CPUMASK_H */
