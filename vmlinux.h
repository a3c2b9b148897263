/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel types that kwitness reads, and nothing else: kept by hand, so that one look shows what it touches. The
 * fields are a subset in any order; CO-RE finds where they are on the running kernel.
 */
#ifndef KWITNESS_VMLINUX_H
#define KWITNESS_VMLINUX_H

typedef signed char __s8;
typedef unsigned char __u8;
typedef short int __s16;
typedef unsigned short int __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __s64 s64;
typedef __u64 u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
typedef int pid_t;

#define true 1
#define false 0
#define NULL ((void *)0)

/* include/linux/sched.h: a macro, hence not in BTF. */
#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000

/* include/uapi/linux/bpf.h: what kwitness uses of it. */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
};

enum {
	BPF_F_NO_PREALLOC = 1U << 0,
	BPF_F_MMAPABLE = 1U << 10,
};

enum {
	BPF_RB_NO_WAKEUP = 1U << 0,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct kernfs_node {
	u64 id;
};

struct cgroup {
	int level;
	struct kernfs_node *kn;
	struct cgroup *ancestors[];
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct mm_struct {
	atomic_t mm_users;
	unsigned long cpu_bitmap[];
};

struct prev_cputime {
	u64 utime;
	u64 stime;
};

struct task_cputime_atomic {
	atomic64_t utime;
	atomic64_t stime;
	atomic64_t sum_exec_runtime;
};

struct thread_group_cputimer {
	struct task_cputime_atomic cputime_atomic;
};

struct posix_cputimers {
	unsigned int timers_active;
};

struct signal_struct {
	int nr_threads;
	struct thread_group_cputimer cputimer;
	struct posix_cputimers posix_cputimers;
};

struct sighand_struct;

struct task_delay_info {
	u64 blkio_start;
	u64 blkio_delay;
	u32 blkio_count;
	u64 swapin_start;
	u64 swapin_delay;
	u32 swapin_count;
	u64 freepages_start;
	u64 freepages_delay;
	u32 freepages_count;
	u64 thrashing_start;
	u64 thrashing_delay;
	u32 thrashing_count;
	u64 compact_start;
	u64 compact_delay;
	u32 compact_count;
	u64 wpcopy_start;
	u64 wpcopy_delay;
	u32 wpcopy_count;
	u64 irq_delay;
	u32 irq_count;
};

struct task_struct {
	unsigned int flags;
	int exit_state;
	unsigned int in_iowait : 1;
	unsigned int in_thrashing : 1;
	pid_t pid;
	pid_t tgid;
	u64 start_time;
	char comm[16];
	struct mm_struct *mm;
	struct pid *thread_pid;
	struct task_struct *group_leader;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	struct task_delay_info *delays;
	struct css_set *cgroups;
};

struct rq {
	struct task_struct *curr;
};

struct bpf_iter__task {
	struct task_struct *task;
};

#pragma clang attribute pop

#endif /* KWITNESS_VMLINUX_H */
