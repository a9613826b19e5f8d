// A button beside each block of code, which copies it. Without it the site is complete.

for (const pre of document.querySelectorAll("article pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(pre.textContent.trimEnd());
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1_500);
  });
  const block = document.createElement("div");
  block.className = "code";
  pre.replaceWith(block);
  block.append(pre, button);
}
