"""A language model that writes programs, small enough for a test.

Each token of its vocabulary is a whole answer, so a model with random weights answers with one of
them, and what a trainer learns can be seen in a few steps. Nothing is fetched: the tokenizer is
made from the list, the weights from a seed.
"""

from __future__ import annotations

from typing import Any

PAD, END, PROMPT = "<pad>", "<end>", "<prompt>"


def tokenizer(answers: list[str]) -> Any:
    """A fast tokenizer that knows the answers, and every other text as the prompt."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = {word: place for place, word in enumerate([PAD, END, PROMPT, *answers])}
    inner = Tokenizer(models.WordLevel(words, unk_token=PROMPT))
    inner.pre_tokenizer = pre_tokenizers.Split("\0", "isolated")  # nothing is split
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token=PAD, eos_token=END, unk_token=PROMPT, padding_side="left"
    )


def model(answers: list[str], seed: int = 0) -> Any:
    """A Llama of a few thousand weights."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=3 + len(answers), hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=32,
        pad_token_id=0, eos_token_id=1, bos_token_id=None,
    ))  # fmt: skip
