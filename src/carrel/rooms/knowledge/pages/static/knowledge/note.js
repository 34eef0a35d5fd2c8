// After a save: the draft of what was saved is forgotten, and the address is the note's own again.
import { acknowledge } from "./drafts.js";

const place = document.querySelector("[data-saved-draft]");
const token = place?.dataset.savedDraft;
if (token) {
  acknowledge(place.dataset.user, [place.dataset.note, ""], token);
  const address = new URL(location.href);
  address.searchParams.delete("saved");
  history.replaceState(history.state, "", address);
}
