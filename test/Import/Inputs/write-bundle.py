# SPDX-License-Identifier: MIT OR Apache-2.0
"""write-bundle.py DIR: model.hir.json as torch's importer writes nn.Linear, ReLU, nn.Linear.

A linear layer is Param [out, in], Transpose, MatMul and Add between a Reshape to two dims and one
back; weights have the names of the state_dict.
"""
import json
import sys

BATCH, SEQ, ROWS = {"Dynamic": 0}, {"Dynamic": 1}, {"Dynamic": 2}
nodes = []


def node(op, inputs, dims, name=None):
    shape = [dim if isinstance(dim, dict) else {"Static": dim} for dim in dims]
    nodes.append({"id": len(nodes), "op": op, "inputs": inputs,
                  "shape": {"dims": shape, "dtype": "F32"}, "name": name})
    return len(nodes) - 1


def linear(x, layer, features_in, features_out):
    weight = node({"Param": {"name": f"{layer}.weight"}}, [], [features_out, features_in])
    bias = node({"Param": {"name": f"{layer}.bias"}}, [], [features_out])
    rows = node({"Mir": {"Reshape": {"new_shape": [-1, features_in]}}}, [x], [ROWS, features_in])
    turned = node({"Mir": {"Transpose": {"perm": [1, 0]}}}, [weight], [features_in, features_out])
    product = node({"Mir": "MatMul"}, [rows, turned], [ROWS, features_out])
    total = node({"Mir": {"Binary": "Add"}}, [product, bias], [ROWS, features_out])
    return node({"Mir": {"Reshape": {"new_shape": [-1, -1, features_out]}}}, [total],
                [BATCH, SEQ, features_out], layer)


x = node({"Input": {"name": "x"}}, [], [BATCH, SEQ, 4])
hidden = node({"Mir": {"Activation": "Relu"}}, [linear(x, "fc1", 4, 8)], [BATCH, SEQ, 8])
logits = linear(hidden, "fc2", 8, 2)
with open(f"{sys.argv[1]}/model.hir.json", "w") as file:
    json.dump({"name": "mlp", "nodes": nodes, "outputs": [logits], "fusion_policy": "Direct"},
              file)
