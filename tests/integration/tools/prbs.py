"""An independent generator of PRBS frames (rogue's Prbs, surf's SsiPrbsTx) and of rogue's data files."""
import struct


def frame(sequence, words, bits):
    """Word 0: the sequence number; word 1: words - 1; then a shift register of `bits` that starts as word 0."""
    mask = (1 << bits) - 1
    values, state = [sequence, words - 1], sequence
    for _ in range(words - 2):
        new = (state >> 1 ^ state >> 2 ^ state >> 6 ^ state >> 31) & 1
        state = (state << 1 & mask) | new
        values.append(state)
    return b"".join(v.to_bytes(bits // 8, "little") for v in values)


def record(payload, channel=1, flags=2):
    return struct.pack("<II", len(payload) + 4, channel << 24 | flags) + payload
