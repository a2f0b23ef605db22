// Tables sort by their headings, and long ones are shortened. Without scripts they are whole, in the report's order.
(function () {
  "use strict";

  const limit = 20; // rows of a shortened table
  const slack = 5; // rows that are not worth a button

  const said = document.getElementById("sorted");
  for (const table of document.querySelectorAll("table")) {
    const body = table.tBodies[0];
    const show = shorten(table, body);
    if (body.rows.length > 1) sortable(table, body, show);
  }

  function shorten(table, body) {
    const total = body.rows.length;
    if (total <= limit + slack) return function () {};
    let whole = false;
    const bar = document.createElement("p");
    bar.className = "more";
    const text = document.createElement("span");
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-controls", table.id);
    bar.append(text, button);
    table.closest(".table").append(bar);
    function show() {
      Array.prototype.forEach.call(body.rows, function (row, i) {
        row.hidden = !whole && i >= limit;
      });
      text.textContent = whole ? "All " + total + " rows." : limit + " of " + total + " rows.";
      button.textContent = whole ? "Show " + limit : "Show all " + total;
      button.setAttribute("aria-expanded", String(whole));
    }
    button.addEventListener("click", function () {
      whole = !whole;
      show();
    });
    show();
    return show;
  }

  function sortable(table, body, show) {
    const heads = table.tHead.rows[0].cells;
    Array.prototype.forEach.call(heads, function (head, column) {
      const name = head.textContent.trim().replace(/\s+/g, " ");
      const text = head.classList.contains("text");
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", function () {
        const before = head.getAttribute("aria-sort");
        const up = before === "none" ? text : before === "descending";
        for (const other of heads) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        body.append(...sorted(Array.from(body.rows), column, text, up));
        show();
        said.textContent = "Sorted by " + name + ", " + (up ? "ascending" : "descending") + ".";
      });
    });
  }

  // A cell without a figure comes last both ways; rows that are equal keep their order.
  function sorted(rows, column, text, up) {
    const keyed = rows.map(function (row) {
      const key = row.cells[column].dataset.sort;
      return { row: row, none: key === "", key: text ? key : Number(key) };
    });
    keyed.sort(function (a, b) {
      if (a.none || b.none) return a.none - b.none;
      const order = a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
      return up ? order : -order;
    });
    return keyed.map(function (k) {
      return k.row;
    });
  }
})();
