"""What operators see from outside, judged by the formats' own parsers and classes."""
