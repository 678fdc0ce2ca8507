// Buttons that copy the text below them; where the browser does not let them, they select it.
for (const button of document.querySelectorAll("button.copy")) {
  const text = button.closest("details").querySelector("pre");
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      button.textContent = "Selected";
    }
  });
}
