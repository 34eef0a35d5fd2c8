"""The references room's part of the web console."""

from __future__ import annotations

from carrel.core.pages import ConsolePage, NavigationEntry, RoomPages
from carrel.rooms.references.pages.editor_page import (
    act_in_editor,
    act_on_new,
    draw_editor,
    draw_new,
)
from carrel.rooms.references.pages.history_page import draw_history, undo_change
from carrel.rooms.references.pages.home_share import find_path, share_with_home
from carrel.rooms.references.pages.import_page import IMPORT_JOB, draw_import, import_references
from carrel.rooms.references.pages.item_page import (
    draw_fulltext,
    draw_item,
    draw_versions,
    send_attachment,
)
from carrel.rooms.references.pages.list_page import draw_library
from carrel.rooms.references.pages.organizing_pages import (
    change_group,
    draw_groups,
    draw_organizing,
    organize_selected,
)
from carrel.rooms.references.pages.selection_pages import (
    draw_citations,
    draw_export,
    draw_removal,
    remove_selected,
    restore_removed,
)
from carrel.rooms.references.pages.shared_pages import (
    add_to_library,
    create_library,
    draw_libraries,
    draw_library_members,
)
from carrel.rooms.references.pages.upkeep_pages import (
    draw_duplicates,
    draw_files,
    draw_keys,
    draw_merge,
    merge,
    remove_files,
    rename_keys,
    send_file,
)

CONSOLE = RoomPages(
    name="references",
    folder="carrel.rooms.references.pages",
    pages=(
        ConsolePage("/references", draw=draw_library),
        ConsolePage("/references/new", draw=draw_new, act=act_on_new),
        ConsolePage("/references/import", draw=draw_import, act=import_references),
        ConsolePage("/references/export", draw=draw_export),
        ConsolePage("/references/cite", draw=draw_citations),
        ConsolePage("/references/remove", draw=draw_removal, act=remove_selected),
        ConsolePage("/references/restore", act=restore_removed),
        ConsolePage("/references/organize", draw=draw_organizing, act=organize_selected),
        ConsolePage("/references/groups", draw=draw_groups, act=change_group),
        ConsolePage("/references/history", draw=draw_history, act=undo_change),
        ConsolePage("/references/duplicates", draw=draw_duplicates),
        ConsolePage("/references/merge", draw=draw_merge, act=merge),
        ConsolePage("/references/keys", draw=draw_keys, act=rename_keys),
        ConsolePage("/references/files", draw=draw_files, act=remove_files),
        ConsolePage("/references/attached/{id}", draw=send_file),
        ConsolePage("/references/libraries", draw=draw_libraries, act=create_library),
        ConsolePage("/references/libraries/{id}", draw=draw_library_members, act=add_to_library),
        ConsolePage("/references/item/{id}", draw=draw_item),
        ConsolePage("/references/text/{id}", draw=draw_fulltext),
        ConsolePage("/references/file/{id}", draw=send_attachment),
        ConsolePage("/references/versions/{id}", draw=draw_versions),
        ConsolePage("/references/edit/{id}", draw=draw_editor, act=act_in_editor),
    ),
    navigation=(NavigationEntry("/references", "references.nav", "library", "browse_references"),),
    live=(IMPORT_JOB,),
    find_path=find_path,
    share=share_with_home,
)
