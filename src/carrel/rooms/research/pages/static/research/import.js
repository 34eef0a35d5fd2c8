// Reads a chosen file into the field, so that one sees what is sent.
const field = document.querySelector("[data-import-file]");
const input = field?.querySelector("input");
const text = document.getElementById("field-hypotheses");
if (field && input && text) {
  field.hidden = false;
  input.addEventListener("change", async () => {
    const file = input.files[0];
    if (file) text.value = await file.text();
  });
}
