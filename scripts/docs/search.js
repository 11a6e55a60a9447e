// Finds sections that have all the words; words in headings count more.

const MOST = 12;
const field = document.getElementById("search");
const list = document.getElementById("found");
const siteTop = document.documentElement.dataset.top;

function score(section, words) {
  const title = `${section.page} ${section.title}`.toLowerCase();
  const text = section.text.toLowerCase();
  let sum = 0;
  for (const word of words) {
    const inTitle = title.includes(word);
    if (!inTitle && !text.includes(word)) return 0;
    sum += inTitle ? 10 : 1;
  }
  return sum;
}

function excerpt({ text }, words) {
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 40);
  return text.slice(at, at + 140);
}

function item(section, words) {
  const row = document.createElement("li");
  const link = row.appendChild(document.createElement("a"));
  link.href = siteTop + section.url;
  link.textContent = section.title === section.page ? section.page : `${section.page}: ${section.title}`;
  row.appendChild(document.createElement("p")).textContent = excerpt(section, words);
  return row;
}

function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found =
    words.length === 0
      ? []
      : window.SECTIONS.map((section) => [score(section, words), section])
          .filter(([points]) => points > 0)
          .sort((a, b) => b[0] - a[0])
          .slice(0, MOST);
  list.replaceChildren(...found.map(([, section]) => item(section, words)));
  if (words.length > 0 && found.length === 0)
    list.appendChild(document.createElement("li")).textContent = "Nothing found.";
  list.hidden = words.length === 0;
}

field.addEventListener("input", search);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  } else if (event.key === "Escape") {
    field.value = "";
    search();
    field.blur();
  } else if (event.key === "Enter" && document.activeElement === field) list.querySelector("a")?.click();
});
// On a phone the navigation is closed at first.
if (matchMedia("(max-width: 800px)").matches) document.querySelector("nav details").open = false;
