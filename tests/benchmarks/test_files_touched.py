"""How many files a research run passes through."""

from pathlib import Path

from benchmarks.files_touched import RESEARCH, research_run_by_call


def test_a_research_run_passes_through_few_files_of_room_and_discovery(
    tmp_path: Path,
) -> None:
    files = research_run_by_call(tmp_path)
    own = {file for file in files if file.startswith(RESEARCH)}
    assert "rooms/research/service.py" in own, "nothing was counted"
    assert "libraries/discovery/paths/abc_paths.py" in own, "the threads of work were not counted"
    # Sixty, three for looking beyond the corpus, five for concepts in tables that processes share.
    assert len(own) <= 68, sorted(own)
