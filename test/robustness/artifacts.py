# SPDX-License-Identifier: MIT OR Apache-2.0
"""Damaged artifacts: what is hashed is refused for every flipped bit."""
import ctypes
import hashlib
import os
import struct

import numpy as np

from fixture import Model, refused, tolerated, write
from rlxtest import runtime, tools
from rlxtest.runner import Skip, case

PREFIX_BYTES, HASHED_BYTES = 64, 32


class Artifact:
    def __init__(self, test, *flags, weights=True):
        with open(Model(test).bake(*flags, weights=weights), "rb") as file:
            self.data = file.read()
        self.manifest = struct.unpack_from("<Q", self.data, 24)[0]

    def executable(self, target):
        """The range of a CPU class's code: an ELF file from its header to the end
        of its section table."""
        for at in range(PREFIX_BYTES, self.manifest, 64):
            if self.data[at:at + 4] != b"\x7fELF":
                continue
            table = struct.unpack_from("<Q", self.data, at + 0x28)[0]
            entry_bytes, entries = struct.unpack_from("<HH", self.data, at + 0x3A)
            end = at + table + entry_bytes * entries
            if target.encode() + b"\0" in self.data[at:end]:
                return at, end
        raise RuntimeError(f"no executable for {target}")

    def flip(self, at, bit):
        damaged = bytearray(self.data)
        damaged[at] ^= 1 << bit
        return bytes(damaged)

    def reseal(self, manifest):
        """Another manifest with a hash that fits it."""
        head = bytearray(self.data[:HASHED_BYTES])
        struct.pack_into("<Q", head, 16, self.manifest + len(manifest))
        digest = hashlib.sha256(bytes(head) + manifest).digest()
        return bytes(head) + digest + self.data[PREFIX_BYTES:self.manifest] + manifest


def run_arguments(test, path):
    if not os.path.exists(test.path("x.npy")):
        np.save(test.path("x.npy"), np.ones((2, 4), np.float32))
    return ["rlx-run", path, "--input", f"x=@{test.path('x.npy')}"]


def refuse_artifact(test, what, data, words=("bad.rlx",), flags=()):
    path = write(test.path("bad.rlx"), data)
    return refused(test, what, *run_arguments(test, path), *flags, words=words)


@case("artifact-garbage", covers=("RLXBAKE1", "RLXENC01"))
def garbage(test):
    good = Artifact(test)
    result = tools.run(test.options, *run_arguments(test, test.path("good.rlx")))
    test.equal(result.code, 0, f"the undamaged file runs: {result}")

    def version(number):
        return good.data[:8] + struct.pack("<I", number) + good.data[12:]

    for what, data, words in (
            ("empty", b"", []), ("a byte", b"R", []), ("the magic alone", b"RLXBAKE1", []),
            ("zeros", bytes(4096), []), ("noise", np.random.default_rng(1).bytes(4096), []),
            ("a program", b"\x7fELF" + bytes(200), []),
            ("version 1", version(1), ["version 1", "Rust"]),
            ("version 2", version(2), ["version 2", "Rust"]),
            ("a later version", version(4), ["4", "3"]),
            ("version 2^32 - 1", version((1 << 32) - 1), []),
            ("a sealed file", b"RLXENC01" + bytes(500), ["sealed"]),
            ("a package", b"RLXPFLAT" + bytes(500), ["package"]),
            ("bytes appended", good.data + bytes(64), ["appended"]),
            ("a manifest of garbage", good.reseal(bytes(range(256))), []),
            ("an empty manifest", good.reseal(b""), []),
            ("a manifest of zeros", good.reseal(bytes(1024)), [])):
        refuse_artifact(test, what, data, ["bad.rlx", *words])
    for at in (16, 24):
        for value in (0, 1, 63, 64, 1 << 32, 1 << 63, (1 << 64) - 1):
            data = bytearray(good.data)
            struct.pack_into("<Q", data, at, value)
            refuse_artifact(test, f"{value} at byte {at}", bytes(data))
    refused(test, "a folder", *run_arguments(test, test.dir))
    refused(test, "no file", *run_arguments(test, test.path("gone.rlx")), words=["gone.rlx"])
    refused(test, "a device", *run_arguments(test, "/dev/zero"), words=["/dev/zero"])
    os.mkfifo(test.path("pipe.rlx"))
    result = tools.run(test.options, *run_arguments(test, test.path("pipe.rlx")))
    test.equal(result.code, 1, f"a named pipe is refused, not waited for: {result}")


@case("artifact-cut", covers=("truncated",))
def cut(test):
    good = Artifact(test)
    lengths = set(np.linspace(1, len(good.data) - 1, 60).astype(int)) | set(range(1, 65, 7))
    ends = {good.manifest, good.manifest - 1, good.manifest + 1}
    for length in test.sample(sorted(lengths)) + sorted(ends):
        refuse_artifact(test, f"first {length} bytes", good.data[:length])


@case("artifact-flipped", covers=("bit-flipped",))
def flipped(test):
    """Through the tool, a sample: prefix, manifest, and code that would run."""
    good = Artifact(test)
    rng = np.random.default_rng(2)
    places = list(range(0, PREFIX_BYTES, 3)) + \
        list(rng.integers(good.manifest, len(good.data), 80)) + [len(good.data) - 1]
    for at in test.sample(places):
        refuse_artifact(test, f"byte {at}", good.flip(int(at), int(rng.integers(8))))
    for target in runtime.CPU_CLASSES:
        if not runtime.host_supports(target):
            test.note(f"{target} cannot run here")
            continue
        start, end = good.executable(target)
        path = test.path("bad.rlx")
        for at in test.sample(rng.integers(start, end, 40)):
            write(path, good.flip(int(at), int(rng.integers(8))))
            refused(test, f"{target}: byte {at - start} of its code",
                    *run_arguments(test, path), env={"RLX_CPU_CLASS": target}, words=["bad.rlx"])


def loaded(test):
    try:
        return runtime.library(test.options)
    except OSError as error:
        raise Skip(f"this process cannot load the library: {str(error)[:80]}") from error


def is_opened(lib, data):
    """Opens bytes in memory, without running anything of them."""
    storage = ctypes.create_string_buffer(len(data) + 64)
    start = (ctypes.addressof(storage) + 63) & ~63
    ctypes.memmove(start, data, len(data))
    handle = ctypes.c_void_p()
    status = lib.rlx_program_open_memory(ctypes.c_void_p(start), ctypes.c_uint64(len(data)), None,
                                         ctypes.byref(handle))
    if status == 0:
        lib.rlx_program_release(handle)
    return status == 0


@case("artifact-every-byte", covers=("bit-flipped", "prefix", "manifest"))
def every_byte(test):
    """All bits of the prefix, one bit of every byte of the manifest."""
    good = Artifact(test)
    lib = loaded(test)
    test.check(is_opened(lib, good.data), "the undamaged bytes open")
    accepted = [(at, bit) for at in range(PREFIX_BYTES) for bit in range(8)
                if is_opened(lib, good.flip(at, bit))]
    test.equal(accepted, [], "flipped bits of the prefix that are accepted")
    accepted = [at for at in range(good.manifest, len(good.data))
                if is_opened(lib, good.flip(at, at % 8))]
    test.equal(accepted, [], "flipped bytes of the manifest that are accepted")
    test.note(f"{PREFIX_BYTES * 8} bits of the prefix and {len(good.data) - good.manifest} bytes "
              f"of the manifest")


def forge(good, rng, count):
    """Manifests that are wrong under a hash that is right, as from an enemy."""
    manifest = good.data[good.manifest:]
    for _ in range(count):
        damaged = bytearray(manifest)
        for _ in range(int(rng.integers(1, 4))):
            at = int(rng.integers(len(damaged)))
            damaged[at] = int(rng.choice([damaged[at] ^ (1 << int(rng.integers(8))), 0, 255, 127,
                                          128]))
        yield good.reseal(bytes(damaged))


@case("artifact-forged", covers=("manifest",))
def forged(test):
    lib = loaded(test)
    rng = np.random.default_rng(3)
    opened = tried = 0
    for good in (Artifact(test), Artifact(test, weights=False)):
        manifest = good.data[good.manifest:]
        variants = list(forge(good, rng, 3000)) + [good.reseal(manifest[:length])
                                                   for length in range(0, len(manifest), 5)]
        tried += len(variants)
        opened += sum(is_opened(lib, data) for data in variants)
    # The process is still here: nothing crashed. Names and texts may change.
    test.check(opened < tried, "most forged manifests are refused", f"{opened} of {tried} open")
    test.note(f"{tried - opened} of {tried} forged manifests are refused")


@case("artifact-forged-listed", covers=("manifest", "--list"))
def forged_listed(test):
    """Through the tool, where sanitizers watch; what opens is described."""
    rng = np.random.default_rng(4)
    for weighted in (True, False):
        good = Artifact(test, weights=weighted)
        for number, data in enumerate(test.sample(forge(good, rng, 250))):
            path = write(test.path("bad.rlx"), data)
            tolerated(test, f"forged manifest {number}", "rlx-run", path, "--list")


@case("artifact-weights", covers=("--verify",))
def weights(test):
    """Damaged weights are found when asked for; without that they cost no time."""
    good = Artifact(test)
    needle = Model(test).weights["b1"][1].tobytes()
    at = good.data.find(needle, PREFIX_BYTES, good.manifest)
    test.check(at > 0, "the bytes of b1 are in the file")
    path = write(test.path("bad.rlx"), good.flip(at, 0))
    for verify in ("touched", "all"):
        refused(test, f"--verify {verify}", *run_arguments(test, path), "--verify", verify,
                words=["bad.rlx"])
    tolerated(test, "--verify none", *run_arguments(test, path), "--verify", "none")
    for verify in ("none", "touched", "all"):
        result = tools.run(test.options, *run_arguments(test, test.path("good.rlx")), "--verify",
                           verify)
        test.equal(result.code, 0, f"an undamaged file with --verify {verify}: {result}")
