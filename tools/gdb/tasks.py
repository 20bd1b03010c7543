"""gdb command `ferry-tasks`: every task that is awake, of a live process or of a core.

    gdb -p PID -x tools/gdb/tasks.py -ex ferry-tasks
    gdb build/release/bin/ferryd CORE -x tools/gdb/tasks.py -ex ferry-tasks

One block a task: worker, name, state, what it waits for, and its stack. A parked task's registers lie in its
context; frames are followed by hand along the frame pointers, which every preset keeps, because gdb cannot change
registers of a core. `ferry-tasks NAME` shows tasks of that name only.
"""

import gdb

STATES = {0: "runnable", 1: "running", 2: "parked"}
FRAMES_MAX = 40


def pointers(head, container, member):
    """The objects of an intrusive list (base/list.h)."""
    kind = gdb.lookup_type(container)
    field = next(f for f in kind.fields() if f.name == member)
    node = head["next"]
    while node != head.address:
        yield (node.cast(gdb.lookup_type("char").pointer()) - field.bitpos // 8).cast(kind.pointer())
        node = node.dereference()["next"]


def text(pointer):
    return pointer.string() if int(pointer) else ""


def place(address):
    """FUNCTION (FILE:LINE) of a code address."""
    block = gdb.block_for_pc(address)
    while block and not block.function:
        block = block.superblock
    where = gdb.find_pc_line(address)
    name = block.function.name if block else "?"
    if where.symtab:
        return "%s (%s:%d)" % (name, where.symtab.filename, where.line)
    return "%s (0x%x)" % (name, address)


def saved_registers(task):
    context = task["context"]
    if any(field.name == "sp" for field in context.type.fields()):  # a switch of our own: task/context.c
        word = gdb.lookup_type("unsigned long").pointer()
        saved = context["sp"].cast(word)
        return int(saved[6]), int(saved[5])
    registers = context["uc"]["uc_mcontext"]
    machine = gdb.selected_inferior().architecture().name()
    if machine.startswith("aarch64"):
        return int(registers["pc"]), int(registers["regs"][29])
    return int(registers["gregs"][16]), int(registers["gregs"][10])  # RIP, RBP


def stack(task):
    pc, frame = saved_registers(task)
    base = int(task["stack"]["base"])
    top = base + int(task["stack"]["size"])
    word = gdb.lookup_type("unsigned long")
    for _ in range(FRAMES_MAX):
        yield place(pc)
        if not base <= frame < top - 16:
            return
        at = gdb.Value(frame).cast(word.pointer())
        frame, pc = int(at[0]), int(at[1])
        if pc == 0:
            return


class FerryTasks(gdb.Command):
    """ferry-tasks [NAME]: every awake task with its state and its stack."""

    def __init__(self):
        super().__init__("ferry-tasks", gdb.COMMAND_STATUS)

    def invoke(self, wanted, from_tty):
        runtime = gdb.parse_and_eval("runtime_for_debugger")
        if int(runtime) == 0:
            raise gdb.GdbError("no runtime runs in this process")
        count = 0
        for i in range(int(runtime["worker_count"])):
            worker = runtime["workers"][i]
            for task in pointers(worker["tasks"], "struct task", "all_node"):
                if wanted and text(task["name"]) != wanted:
                    continue
                count += 1
                self.show(i, task)
            print("worker %d: %d awake, %d dozing" % (i, int(worker["task_count"]), int(worker["dozing_count"])))
        print("%d tasks shown" % count)

    def show(self, worker, task):
        state = STATES.get(int(task["state"]), "?")
        waits_for = text(task["waits_for"])
        cancelled = ", cancelled" if task["cancelled"] else ""
        print("task %s  worker %d  %s%s%s" % (text(task["name"]), worker, state,
                                              " (%s)" % waits_for if waits_for else "", cancelled))
        if state == "running":
            print("    (see the thread's own backtrace)")
            return
        for level, line in enumerate(stack(task)):
            print("    #%-2d %s" % (level, line))


FerryTasks()
