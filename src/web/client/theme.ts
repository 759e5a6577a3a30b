// Runs before anything is drawn, so that the page never shows the wrong theme first: a plain script, no module.
{
  const chosen = localStorage.getItem("flatline-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset["theme"] = chosen;
}
