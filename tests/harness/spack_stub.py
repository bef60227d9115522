"""The part of Spack that is needed to read the recipe without Spack. Directives are recorded, but not carried out."""
import contextlib
import importlib.util
import sys
import types

CUDA_ARCHITECTURES = ("80", "90", "90a")
AMD_TARGETS = ("gfx90a", "gfx942")


class Recorder:
    """Calls of a recipe: (directive, positional arguments, keyword arguments), with `when` of the enclosing blocks."""

    def __init__(self):
        self.calls = []
        self.blocks = []

    def directive(self, name):
        def record(*arguments, **keywords):
            whens = [*self.blocks, *([keywords["when"]] if "when" in keywords else [])]
            self.calls.append((name, arguments, keywords | {"when": " ".join(whens)}))
        return record

    @contextlib.contextmanager
    def when(self, condition):
        self.blocks.append(condition)
        yield
        self.blocks.pop()

    def of(self, name):
        return [(arguments, keywords) for directive, arguments, keywords in self.calls if directive == name]


class Spec:
    """A spec with these variants on and all others off."""

    def __init__(self, variants):
        self.variants = set(variants)

    def satisfies(self, text):
        return (text[1:] in self.variants) == (text[0] == "+")

    def __getitem__(self, name):
        return types.SimpleNamespace(hipcc="hipcc", kokkos_cxx="nvcc_wrapper", prefix="/prefix")


class CMakePackage:
    """define() and define_from_variant(), which return arguments for CMake."""

    def __init__(self, *variants):
        self.spec = Spec(variants)

    def __getitem__(self, name):
        return self.spec[name]

    def define(self, name, value):
        return f"-D{name}={ {True: 'ON', False: 'OFF'}.get(value, value)}"

    def define_from_variant(self, name, variant):
        return self.define(name, variant in self.spec.variants)


def load(path):
    """(class of the recipe, its Recorder)."""
    recorder = Recorder()
    package = types.ModuleType("spack.package")
    for name in ("version", "variant", "depends_on", "conflicts", "requires", "license", "maintainers"):
        setattr(package, name, recorder.directive(name))
    package.when = recorder.when
    package.run_after = lambda phase: lambda method: method
    systems = "spack_repo.builtin.build_systems"
    cmake, cuda, rocm = (types.ModuleType(f"{systems}.{name}") for name in ("cmake", "cuda", "rocm"))
    cmake.CMakePackage, cmake.generator = CMakePackage, recorder.directive("generator")
    cuda.CudaPackage = type("CudaPackage", (), {"cuda_arch_values": CUDA_ARCHITECTURES})
    rocm.ROCmPackage = type("ROCmPackage", (), {"amdgpu_targets": AMD_TARGETS})
    modules = {m.__name__: m for m in (package, cmake, cuda, rocm)}
    parents = ("spack", "spack_repo", "spack_repo.builtin", systems)
    modules |= {name: types.ModuleType(name) for name in parents}
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        spec = importlib.util.spec_from_file_location("gradcomp_recipe", path)
        recipe = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(recipe)
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
    return recipe.Gradcomp, recorder
