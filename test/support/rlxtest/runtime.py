# SPDX-License-Identifier: MIT OR Apache-2.0
"""librlx_runtime.so through its C interface (include/RLX/Runtime/rlx_runtime.h)."""
import ctypes as c
import mmap
import os

import numpy as np

from . import dtypes

CPU_CLASSES = ("x86-64-v4", "x86-64-v3")
BORROW = 1


class Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("dims", c.POINTER(c.c_int64)), ("rank", c.c_int32),
                ("dtype", c.c_int32)]


class OpenOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint64), ("verify", c.c_int32), ("copy", c.c_int32),
                ("cpu_class", c.c_char_p)]


class SessionOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint64), ("workers", c.c_int64), ("seed", c.c_uint64),
                ("pin", c.c_int32), ("reserved", c.c_int32)]


class ValueInfo(c.Structure):
    _fields_ = [("name", c.c_char_p), ("dims", c.POINTER(c.c_int64)),
                ("symbols", c.POINTER(c.c_char_p)), ("rank", c.c_int32), ("dtype", c.c_int32)]


class EntryInfo(c.Structure):
    _fields_ = [("name", c.c_char_p), ("inputs", c.POINTER(ValueInfo)),
                ("outputs", c.POINTER(ValueInfo)), ("symbols", c.POINTER(c.c_char_p)),
                ("weights", c.POINTER(c.c_uint32)), ("input_count", c.c_uint32),
                ("output_count", c.c_uint32), ("symbol_count", c.c_uint32),
                ("weight_count", c.c_uint32)]


class Stats(c.Structure):
    _fields_ = [(name, c.c_uint64) for name in (
        "struct_size", "runs", "prepare_runs", "prepare_components_run", "weight_bytes_copied",
        "h2d_bytes_per_run", "load_ns", "first_run_ns", "last_run_ns", "median_run_ns",
        "arena_bytes", "prepared_bytes", "workers")]


class RuntimeFailure(Exception):
    """A call that did not return RLX_OK; `status` is the short name."""

    def __init__(self, status, message):
        super().__init__(f"{status}: {message}")
        self.status, self.message = status, message


class PrepareInfo(c.Structure):
    _fields_ = [("function", c.c_char_p), ("inputs", c.POINTER(c.c_uint32)),
                ("outputs", c.POINTER(c.c_uint32)), ("input_count", c.c_uint32),
                ("output_count", c.c_uint32)]


_libraries = {}


def library(options):
    """The library of the build, loaded once."""
    path = os.path.join(options.build_dir, "lib", "librlx_runtime.so")
    if path not in _libraries:
        lib = c.CDLL(path)
        for name in ("rlx_last_error", "rlx_status_name", "rlx_host_cpu_class",
                     "rlx_program_report", "rlx_session_target"):
            getattr(lib, name).restype = c.c_char_p
        lib.rlx_program_entry.restype = c.POINTER(EntryInfo)
        lib.rlx_program_prepare.restype = c.POINTER(PrepareInfo)
        lib.rlx_program_prepare.argtypes = [c.c_void_p, c.c_uint32]
        lib.rlx_program_size_bytes.restype = c.c_uint64
        for name in ("rlx_program_release", "rlx_session_release", "rlx_program_entry",
                     "rlx_program_report", "rlx_weights_release", "rlx_session_target",
                     "rlx_program_size_bytes", "rlx_program_prepare_count", "rlx_weights_retain"):
            getattr(lib, name).argtypes = [c.c_void_p] + \
                ([c.c_uint32] if name == "rlx_program_entry" else [])
        _libraries[path] = lib
    return _libraries[path]


def check(lib, status):
    if status != 0:
        raise RuntimeFailure(lib.rlx_status_name(status).decode(), lib.rlx_last_error().decode())


def host_supports(cpu_class):
    """Whether this CPU runs code of the class; reads the kernel's flags, so that
    it does not depend on what it is used to test."""
    with open("/proc/cpuinfo") as file:
        flags = next(line for line in file if line.startswith("flags")).split()
    needed = {"x86-64-v3": {"avx2", "fma", "bmi2"},
              "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}}
    return needed[cpu_class] <= set(flags)


def as_tensor(dtype, array):
    """A view; the array must outlive it."""
    assert array.flags.c_contiguous
    dims = (c.c_int64 * max(array.ndim, 1))(*array.shape)
    return Tensor(array.ctypes.data, dims, array.ndim, dtypes.CODES[dtype])


def fenced(array):
    """A copy that ends where memory ends: one byte read or written beyond it is a
    segmentation fault. Aligned as its element type asks and no better."""
    pages = -(-max(array.nbytes, 1) // mmap.PAGESIZE)
    memory = mmap.mmap(-1, (pages + 1) * mmap.PAGESIZE)
    start = c.addressof(c.c_char.from_buffer(memory))
    end = pages * mmap.PAGESIZE
    if c.CDLL(None).mprotect(c.c_void_p(start + end), c.c_size_t(mmap.PAGESIZE), 0) != 0:
        raise OSError("mprotect failed")
    copy = np.ndarray(array.shape, array.dtype, memory, end - array.nbytes)
    copy[...] = array
    return copy


def as_tensors(pairs):
    tensors = [as_tensor(dtype, array) for dtype, array in pairs]
    return (Tensor * max(len(tensors), 1))(*tensors)


NAMES = {code: name for name, code in dtypes.CODES.items()}


class Program:
    """An opened artifact. Use as a context."""

    def __init__(self, options, path, cpu_class=None, verify=0):
        self.lib = library(options)
        self.handle = c.c_void_p()
        arguments = OpenOptions(c.sizeof(OpenOptions), verify, 0,
                                cpu_class.encode() if cpu_class else None)
        check(self.lib, self.lib.rlx_program_open(os.fsencode(path), c.byref(arguments),
                                                  c.byref(self.handle)))
        info = self.lib.rlx_program_entry(self.handle, 0).contents
        self.inputs = [self.describe(info.inputs[i]) for i in range(info.input_count)]
        self.outputs = [self.describe(info.outputs[i]) for i in range(info.output_count)]

    @staticmethod
    def describe(value):
        return value.name.decode(), NAMES[value.dtype], \
            [value.dims[i] for i in range(value.rank)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lib.rlx_program_release(self.handle)

    def prepare_functions(self):
        """The function of each prepare instance."""
        return [self.lib.rlx_program_prepare(self.handle, i).contents.function.decode()
                for i in range(self.lib.rlx_program_prepare_count(self.handle))]

    def session(self, threads=1, seed=0):
        return Session(self, threads, seed)


class Session:
    """Use as a context. `weights`: the params of another session to share."""

    def __init__(self, program, threads, seed, weights=None):
        self.program, self.lib = program, program.lib
        self.handle, self.weights = c.c_void_p(), weights
        if weights is None:
            # A set of its own, so that one session does not see another's params.
            self.weights = c.c_void_p()
            check(self.lib, self.lib.rlx_weights_create(program.handle, c.byref(self.weights)))
        else:
            self.lib.rlx_weights_retain(weights)
        options = SessionOptions(c.sizeof(SessionOptions), threads, seed, 0, 0)
        check(self.lib, self.lib.rlx_session_create(program.handle, self.weights,
                                                    c.byref(options), c.byref(self.handle)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lib.rlx_session_release(self.handle)
        self.lib.rlx_weights_release(self.weights)

    @property
    def target(self):
        return self.lib.rlx_session_target(self.handle).decode()

    def sibling(self, threads=1, seed=0):
        """Another session over the same params."""
        return Session(self.program, threads, seed, self.weights)

    def set_param(self, name, array, dtype=None):
        if dtype is None:
            dtype = next(n for n, t in dtypes.NUMPY.items() if t == array.dtype and n != "BF16") \
                if array.dtype != np.uint16 else "BF16"
        tensor = as_tensor(dtype, np.ascontiguousarray(array).reshape(array.shape))
        check(self.lib, self.lib.rlx_weights_set_param(self.weights, name.encode(),
                                                       c.byref(tensor)))

    def output_dims(self, inputs):
        ranks = [len(dims) for _, _, dims in self.program.outputs]
        flat = (c.c_int64 * max(sum(ranks), 1))()
        check(self.lib, self.lib.rlx_session_output_dims(
            self.handle, 0, inputs, len(self.program.inputs), flat, c.c_uint64(sum(ranks))))
        dims, start = [], 0
        for rank in ranks:
            dims.append(tuple(flat[start:start + rank]))
            start += rank
        return dims

    def dims_for(self, shapes):
        """The dims of all outputs for inputs of these shapes, without any data."""
        tensors = []
        for name, dtype, _ in self.program.inputs:
            shape = shapes[name]
            dims = (c.c_int64 * max(len(shape), 1))(*shape)
            tensors.append(Tensor(64, dims, len(shape), dtypes.CODES[dtype]))
        return self.output_dims((Tensor * max(len(tensors), 1))(*tensors))

    def run(self, feeds, fence=False):
        """One forward; arrays as stored, by name. `fence`: on buffers that end
        where memory ends."""
        place = fenced if fence else (lambda array: array)
        pairs = [(dtype, place(np.ascontiguousarray(feeds[name]).reshape(feeds[name].shape)))
                 for name, dtype, _ in self.program.inputs]
        inputs = as_tensors(pairs)
        results = []
        for (_, dtype, _), shape in zip(self.program.outputs, self.output_dims(inputs)):
            array = np.empty(shape, dtypes.NUMPY[dtype])
            # What is not written shows.
            array.reshape(-1).view(np.uint8).fill(0xA5)
            results.append((dtype, place(array)))
        check(self.lib, self.lib.rlx_session_run(self.handle, 0, inputs, len(pairs),
                                                 as_tensors(results), len(results)))
        for (name, _, _), (_, array) in zip(self.program.inputs, pairs):
            if array.tobytes() != feeds[name].tobytes():
                raise RuntimeError(f"the forward changed its input '{name}'")
        return {name: array.copy()
                for (name, _, _), (_, array) in zip(self.program.outputs, results)}

    def statistics(self):
        stats = Stats(struct_size=c.sizeof(Stats))
        check(self.lib, self.lib.rlx_session_stats(self.handle, c.byref(stats)))
        return {name: getattr(stats, name) for name, _ in Stats._fields_}
