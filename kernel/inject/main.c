// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control of the faults, in debugfs:
 *	kwitness_inject/list			name, invariants and description of each, one a line
 *	kwitness_inject/NAME/enable		1 installs the fault, 0 removes it
 *	kwitness_inject/NAME/every		inject at each Nth occasion
 *	kwitness_inject/NAME/hits		how often it was injected since the module was loaded
 *	kwitness_inject/NAME/breaks		ids of the invariants that must speak up
 *	kwitness_inject/NAME/description	what is done
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "inject.h"

static struct fault *const tables[] = {
	cputimer_faults, cputime_faults, delayacct_faults, membarrier_faults, mm_cpumask_faults,
};

static DEFINE_MUTEX(faults_lock);
static struct dentry *directory;

bool fault_strikes(struct fault *fault)
{
	unsigned int every = READ_ONCE(fault->every);
	u64 occasion = atomic64_inc_return(&fault->occasions);

	if (every > 1 && occasion % every)
		return false;
	atomic64_inc(&fault->hits);
	return true;
}

static int read_enabled(void *data, u64 *value)
{
	*value = READ_ONCE(((struct fault *)data)->enabled);
	return 0;
}

static int write_enabled(void *data, u64 value)
{
	struct fault *fault = data;
	int error = 0;

	if (value > 1)
		return -EINVAL;
	mutex_lock(&faults_lock);
	if (value && !fault->enabled)
		error = fault_install(fault);
	else if (!value && fault->enabled)
		fault_remove(fault);
	if (!error)
		WRITE_ONCE(fault->enabled, value);
	mutex_unlock(&faults_lock);
	return error;
}
DEFINE_DEBUGFS_ATTRIBUTE(enable_fops, read_enabled, write_enabled, "%llu\n");

static int read_hits(void *data, u64 *value)
{
	*value = atomic64_read(&((struct fault *)data)->hits);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(hits_fops, read_hits, NULL, "%llu\n");

static int read_every(void *data, u64 *value)
{
	*value = READ_ONCE(((struct fault *)data)->every);
	return 0;
}

static int write_every(void *data, u64 value)
{
	if (!value || value > UINT_MAX)
		return -EINVAL;
	WRITE_ONCE(((struct fault *)data)->every, value);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(every_fops, read_every, write_every, "%llu\n");

static int description_show(struct seq_file *file, void *unused)
{
	const struct fault *fault = file->private;

	seq_printf(file, "%s\n", fault->description);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(description);

static int breaks_show(struct seq_file *file, void *unused)
{
	const struct fault *fault = file->private;

	seq_printf(file, "%s\n", fault->breaks);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(breaks);

static void for_each_fault(void (*visit)(struct fault *fault, void *data), void *data)
{
	struct fault *fault;
	int i;

	for (i = 0; i < ARRAY_SIZE(tables); i++)
		for (fault = tables[i]; fault->name; fault++)
			visit(fault, data);
}

static void show_in_list(struct fault *fault, void *file)
{
	seq_printf(file, "%s %s %s\n", fault->name, fault->breaks, fault->description);
}

static int list_show(struct seq_file *file, void *unused)
{
	for_each_fault(show_in_list, file);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(list);

static void create_files(struct fault *fault, void *unused)
{
	struct dentry *parent = debugfs_create_dir(fault->name, directory);

	debugfs_create_file_unsafe("enable", 0600, parent, fault, &enable_fops);
	debugfs_create_file_unsafe("every", 0600, parent, fault, &every_fops);
	debugfs_create_file_unsafe("hits", 0400, parent, fault, &hits_fops);
	debugfs_create_file("breaks", 0400, parent, fault, &breaks_fops);
	debugfs_create_file("description", 0400, parent, fault, &description_fops);
}

static int __init inject_init(void)
{
	directory = debugfs_create_dir("kwitness_inject", NULL);
	if (IS_ERR(directory))
		return PTR_ERR(directory);
	debugfs_create_file("list", 0400, directory, NULL, &list_fops);
	for_each_fault(create_files, NULL);
	return 0;
}

static void disable(struct fault *fault, void *unused)
{
	write_enabled(fault, 0);
}

/* The files go first, so that nobody can enable a fault behind our back. */
static void __exit inject_exit(void)
{
	debugfs_remove(directory);
	for_each_fault(disable, NULL);
}

module_init(inject_init);
module_exit(inject_exit);
MODULE_DESCRIPTION("Breaks the laws that kwitness checks, one at a time");
MODULE_LICENSE("GPL");
