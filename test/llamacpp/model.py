"""Write a tiny llama model with random weights as a GGUF file.

    python model.py FILE

The model says nothing sensible, but llama.cpp treats it as any other: it has
attention, a KV cache, a SentencePiece vocabulary with byte tokens and a chat
template. Equal runs write equal bytes.
"""

import sys

import gguf
import numpy as np

LAYERS, WIDTH, HEADS, KV_HEADS, HIDDEN, CONTEXT = 2, 64, 4, 2, 128, 4096
SEED = 1

CHAT_TEMPLATE = (
    "{{ bos_token }}"
    "{% for m in messages %}{{ m['role'] + ': ' + m['content'] + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'assistant:' }}{% endif %}"
)


def vocabulary():
    """Three control tokens, 256 bytes, then printable ASCII one character each."""
    kind = gguf.TokenType
    rows = [("<unk>", 0.0, kind.UNKNOWN), ("<s>", 0.0, kind.CONTROL), ("</s>", 0.0, kind.CONTROL)]
    rows += [(f"<0x{b:02X}>", 0.0, kind.BYTE) for b in range(256)]
    characters = ["\u2581"] + [chr(c) for c in range(0x21, 0x7F)]  # SentencePiece writes a space as U+2581
    rows += [(c, -float(i), kind.NORMAL) for i, c in enumerate(characters)]
    return rows


def tensors(rows):
    rng = np.random.default_rng(SEED)

    def random(*shape):
        return rng.normal(0, shape[-1] ** -0.5, shape).astype(np.float32)

    out = random(len(rows), WIDTH) * 4
    for i, (_, _, kind) in enumerate(rows):
        if kind != gguf.TokenType.NORMAL:
            out[i] = 0  # so that it writes printable characters and never ends by itself
    yield "token_embd.weight", random(len(rows), WIDTH)
    yield "output_norm.weight", np.ones(WIDTH, np.float32)
    yield "output.weight", out
    kv = WIDTH // HEADS * KV_HEADS
    for i in range(LAYERS):
        yield f"blk.{i}.attn_norm.weight", np.ones(WIDTH, np.float32)
        yield f"blk.{i}.attn_q.weight", random(WIDTH, WIDTH)
        yield f"blk.{i}.attn_k.weight", random(kv, WIDTH)
        yield f"blk.{i}.attn_v.weight", random(kv, WIDTH)
        yield f"blk.{i}.attn_output.weight", random(WIDTH, WIDTH)
        yield f"blk.{i}.ffn_norm.weight", np.ones(WIDTH, np.float32)
        yield f"blk.{i}.ffn_gate.weight", random(HIDDEN, WIDTH)
        yield f"blk.{i}.ffn_up.weight", random(HIDDEN, WIDTH)
        yield f"blk.{i}.ffn_down.weight", random(WIDTH, HIDDEN)


def main(path):
    rows = vocabulary()
    w = gguf.GGUFWriter(path, "llama")
    w.add_name("tiny-random-llama")
    w.add_context_length(CONTEXT)
    w.add_embedding_length(WIDTH)
    w.add_block_count(LAYERS)
    w.add_feed_forward_length(HIDDEN)
    w.add_head_count(HEADS)
    w.add_head_count_kv(KV_HEADS)
    w.add_rope_dimension_count(WIDTH // HEADS)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_vocab_size(len(rows))
    w.add_file_type(gguf.LlamaFileType.ALL_F32)
    w.add_tokenizer_model("llama")
    w.add_token_list([text for text, _, _ in rows])
    w.add_token_scores([score for _, score, _ in rows])
    w.add_token_types([kind for _, _, kind in rows])
    w.add_unk_token_id(0)
    w.add_bos_token_id(1)
    w.add_eos_token_id(2)
    w.add_add_bos_token(False)  # the chat template writes it
    w.add_chat_template(CHAT_TEMPLATE)
    for name, data in tensors(rows):
        w.add_tensor(name, data)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


if __name__ == "__main__":
    main(sys.argv[1])
