# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs train_bake and run on small IDX files, right ones and wrong ones.

Usage: check.py TRAIN_BAKE RUN [unittest arguments]
"""
import gzip
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = {}
PARTS = {"train": 400, "t10k": 100}


def images_file(pixels):
    return struct.pack(">4I", 0x803, len(pixels), 28, 28) + b"".join(pixels)


def labels_file(labels):
    return struct.pack(">2I", 0x801, len(labels)) + bytes(labels)


def draw(rng, label):
    """A noisy block whose place says the class; some are drawn in a wrong place,
    so that no network gets all of them right."""
    place = label if rng.random() < 0.85 else rng.randrange(10)
    image = bytearray(rng.randrange(120) for _ in range(784))
    for row in range(12 * (place // 5) + 2, 12 * (place // 5) + 12):
        for column in range(5 * (place % 5) + 1, 5 * (place % 5) + 6):
            image[row * 28 + column] = rng.randrange(140, 256)
    return bytes(image)


class Mnist(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = scratch.name
        self.data = os.path.join(self.dir, "data")
        self.out = os.path.join(self.dir, "mnist.rlx")
        os.mkdir(self.data)
        rng = random.Random(1)
        self.files = {}
        for part, count in PARTS.items():
            labels = [rng.randrange(10) for _ in range(count)]
            self.files[f"{part}-images-idx3-ubyte"] = images_file([draw(rng, n) for n in labels])
            self.files[f"{part}-labels-idx1-ubyte"] = labels_file(labels)

    def write(self, folder=None, zipped=False):
        folder = folder or self.data
        os.makedirs(folder, exist_ok=True)
        for name, content in self.files.items():
            with open(os.path.join(folder, name + (".gz" if zipped else "")), "wb") as file:
                file.write(gzip.compress(content, mtime=0) if zipped else content)

    def run_program(self, name, **environment):
        variables = {**os.environ, "RLX_MNIST_DIR": self.data, "RLX_BAKE_OUT": self.out,
                     **environment}
        return subprocess.run([PROGRAMS[name]], env=variables, text=True, check=False,
                              capture_output=True, cwd=self.dir, timeout=600)

    def succeed(self, name, **environment):
        done = self.run_program(name, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def accuracy(self, text):
        return re.search(r"test accuracy: (\d+) of (\d+)", text).groups()

    def train_and_run(self, **environment):
        """The accuracy, which both programs must agree on."""
        trained = self.succeed("train_bake", **environment)
        self.assertRegex(trained, r"training accuracy: \d+ of")
        ran = self.succeed("run", **environment)
        self.assertEqual(self.accuracy(ran), self.accuracy(trained))
        self.assertRegex(ran, r"loaded .* in [\d.]+ ms")
        self.assertRegex(ran, r"time per image, batch 1: [\d.]+ us")
        self.assertIn(f"({os.path.getsize(self.out)} bytes", ran)
        return self.accuracy(ran), trained

    def refuse(self, name, *words):
        done = self.run_program(name)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertTrue(done.stderr.startswith("error: "), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse(os.path.exists(self.out))

    def test_plain_and_gzipped_files_give_the_same(self):
        self.write()
        plain, _ = self.train_and_run()
        with open(self.out, "rb") as file:
            first = file.read()
        correct, count = map(int, plain)
        self.assertEqual(count, PARTS["t10k"])
        # Learnt, but not all: so an equal accuracy is no accident.
        self.assertGreater(correct, 60)
        self.assertLess(correct, 100)
        for name in os.listdir(self.data):
            os.remove(os.path.join(self.data, name))
        self.write(zipped=True)
        zipped, _ = self.train_and_run()
        self.assertEqual(zipped, plain)
        with open(self.out, "rb") as file:
            self.assertEqual(file.read(), first, "training and baking are deterministic")

    def test_weights_are_baked(self):
        self.write()
        _, trained = self.train_and_run()
        # 784x64 + 64 + 64x10 + 10 numbers of four bytes.
        self.assertIn("weights 203560 of 203560 bytes", trained)

    def test_torchvision_folders_are_found(self):
        self.write(folder=os.path.join(self.dir, "home", "data", "FashionMNIST", "raw"))
        home = {"HOME": os.path.join(self.dir, "home"), "RLX_MNIST_DIR": "", "XDG_CACHE_HOME": ""}
        _, trained = self.train_and_run(**home)
        self.assertIn("FashionMNIST/raw", trained)
        self.write(folder=os.path.join(self.dir, "data", "MNIST", "raw"), zipped=True)
        _, trained = self.train_and_run(**home)
        self.assertIn("data: data/MNIST/raw", trained)

    def test_the_environment_variable_must_name_data(self):
        self.refuse("train_bake", "RLX_MNIST_DIR", self.data, "t10k-images-idx3-ubyte")
        self.refuse("run", "RLX_MNIST_DIR")

    def test_malformed_files_are_refused(self):
        images, labels = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
        good = dict(self.files)
        huge = struct.pack(">4I", 0x803, 0xFFFFFFFF, 28, 28)
        for name, content, words in (
                (images, b"", ["ends after 0", "16 bytes"]),
                (images, good[images][:10], ["ends after 10"]),
                (images, good[images][:-1], ["ends after"]),
                (images, good[images] + b"x", ["more bytes"]),
                (images, huge + good[images][16:], ["ends after"]),
                (images, good[labels], ["2049", "2051"]),
                (images, struct.pack(">4I", 0x803, 400, 32, 32) + good[images][16:], ["32x32"]),
                (images, struct.pack(">4I", 0x803, 0, 28, 28), ["has 0 images", "400"]),
                (labels, good[labels][:-1] + b"\x0a", ["label 399 is 10"]),
                (labels, labels_file([1] * 399), ["400 images", "399 labels"]),
                (labels, b"\x1f\x8b\x08\x00garbage that is no gzip", [])):
            self.files = {**good, name: content}
            self.write()
            with self.subTest(name=name, content=content[:20]):
                self.refuse("train_bake", name, *words)
        self.files = {**good, images: struct.pack(">4I", 0x803, 0, 28, 28),
                      labels: labels_file([])}
        self.write()
        self.refuse("train_bake", images, "no images")

    def test_damaged_gzip_files_are_refused(self):
        self.write(zipped=True)
        path = os.path.join(self.data, "train-images-idx3-ubyte.gz")
        with open(path, "rb") as file:
            good = file.read()
        for content in (good[:len(good) // 2], good[:-100],
                        good[:-8] + bytes([good[-8] ^ 1]) + good[-7:]):
            with open(path, "wb") as file:
                file.write(content)
            with self.subTest(size=len(content)):
                self.refuse("train_bake", path)

    def test_run_refuses_what_is_no_baked_network(self):
        self.write()
        done = self.run_program("run")
        self.assertEqual(done.returncode, 1)
        self.assertIn(self.out, done.stderr)
        with open(self.out, "wb") as file:
            file.write(b"garbage")
        done = self.run_program("run")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.startswith("error: "), done.stderr)


if __name__ == "__main__":
    PROGRAMS["train_bake"], PROGRAMS["run"] = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
