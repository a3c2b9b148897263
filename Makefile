# SPDX-License-Identifier: GPL-2.0-only
# kwitness: `make help` lists the targets. Everything is built under build/.
BUILD ?= build
CC ?= gcc
CLANG ?= clang-16
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
PREFIX ?= /usr/local
VERSION := 0.1

WARNINGS := -Wall -Wextra -Werror
SANITIZE_FLAGS := $(if $(SANITIZE),-fsanitize=address -fsanitize=undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer)
CFLAGS ?= -O2 -g
ALL_CFLAGS := -std=gnu11 $(CFLAGS) $(WARNINGS) $(SANITIZE_FLAGS) -D_GNU_SOURCE -DKWITNESS_VERSION='"$(VERSION)"' \
	-Ibpf -Iuser -I$(BUILD)
# A probe is declared with all arguments of its function, whether it reads them or not.
BPF_CFLAGS := -std=gnu11 -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 $(WARNINGS) -Wno-unused-parameter \
	-I. -Ibpf

# A sanitized program cannot be linked statically; the guest gets its libraries from scripts/vm then.
LINK_STATIC := $(if $(SANITIZE),,-static)
LIBRARIES := -lbpf -lelf -lz -ljson-c

BPF_SOURCES := $(wildcard bpf/*.bpf.c)
BPF_OBJECTS := $(BPF_SOURCES:bpf/%.bpf.c=$(BUILD)/bpf/%.bpf.o)
USER_SOURCES := $(wildcard user/*.c)
USER_OBJECTS := $(USER_SOURCES:user/%.c=$(BUILD)/user/%.o)
LIB_OBJECTS := $(filter-out $(BUILD)/user/main.o,$(USER_OBJECTS))
SKELETON := $(BUILD)/kwitness.skel.h
WORKLOADS := $(patsubst tests/workloads/%.c,$(BUILD)/workloads/%,\
	$(filter-out tests/workloads/common.c,$(wildcard tests/workloads/*.c)))
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_*.c))

.PHONY: all help run test unit valgrind install clean format
.DELETE_ON_ERROR:

all: $(BUILD)/kwitness $(WORKLOADS) ## build kwitness and the workloads

help: ## list the targets
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@

$(BUILD)/kwitness.bpf.o: $(BPF_OBJECTS)
	$(BPFTOOL) gen object $@ $^

$(SKELETON): $(BUILD)/kwitness.bpf.o
	$(BPFTOOL) gen skeleton $< name kwitness_bpf > $@

$(BUILD)/user/%.o: user/%.c | $(SKELETON)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/kwitness: $(USER_OBJECTS)
	$(CC) $(ALL_CFLAGS) $(LINK_STATIC) $^ $(LIBRARIES) -o $@

$(BUILD)/workloads/%: tests/workloads/%.c tests/workloads/common.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d $(LINK_STATIC) -pthread $^ -o $@

$(BUILD)/unit/%: tests/unit/%.c $(LIB_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d $< $(LIB_OBJECTS) -lcmocka $(LIBRARIES) -o $@

# The packages first, then everything else by a make that can rely on them.
run: ## build, and check a real kernel under a real workload (KERNEL=debian-6.1|debian-6.12|FILE|TREE)
	@scripts/deps build
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@scripts/run $(if $(KERNEL),--kernel $(KERNEL)) $(RUN_OPTIONS)

test: ## install what is needed, build, and run all tests
	@scripts/deps all
	@$(MAKE) --no-print-directory -s -j$$(nproc) all $(UNIT_TESTS)
	@tests/run

unit: $(BUILD)/kwitness $(UNIT_TESTS) ## build and run the unit tests (SANITIZE=1 BUILD=build/sanitize: with sanitizers)
	@CMOCKA_MESSAGE_OUTPUT=TAP BUILD=$(BUILD) prove $(UNIT_TESTS) tests/unit

VALGRIND := valgrind --quiet --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=all --error-exitcode=99
valgrind: $(UNIT_TESTS) ## run the unit tests that are programs under valgrind
	@CMOCKA_MESSAGE_OUTPUT=TAP prove --exec '$(VALGRIND)' $(UNIT_TESTS)

install: $(BUILD)/kwitness ## install under $(DESTDIR)$(PREFIX)
	install -D -m 0755 $< $(DESTDIR)$(PREFIX)/sbin/kwitness
	install -D -m 0644 docs/kwitness.8 $(DESTDIR)$(PREFIX)/share/man/man8/kwitness.8

clean: ## remove what was built (downloaded kernels stay)
	rm -rf $(BUILD)/bpf $(BUILD)/user $(BUILD)/unit $(BUILD)/workloads $(BUILD)/kwitness*

format: ## format the C sources
	clang-format -i bpf/*.[ch] user/*.[ch] tests/*/*.[ch]

-include $(BPF_OBJECTS:.o=.d) $(USER_OBJECTS:.o=.d) $(UNIT_TESTS:=.d) $(WORKLOADS:=.d)
