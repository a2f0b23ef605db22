// Draws the charts of the report with Chart.js from the figures in #data, in the colours of the style sheet.
(function () {
  "use strict";

  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const charts = [];

  function colour(name) {
    return getComputedStyle(root).getPropertyValue("--" + name).trim();
  }
  function faint(name, alpha) {
    return colour(name) + Math.round(alpha * 255).toString(16).padStart(2, "0");
  }
  function tokens(n) {
    if (n >= 1e6) return +(n / 1e6).toFixed(2) + "M";
    return n >= 1e3 ? +(n / 1e3).toFixed(1) + "k" : String(n);
  }
  function whole(n) {
    return n.toLocaleString("en-US");
  }
  function dollars(n) {
    if (n >= 100 || Number.isInteger(n)) return "$" + whole(Math.round(n));
    return "$" + (n >= 0.1 ? n.toFixed(2) : String(+n.toPrecision(2)));
  }
  function moment(ms) {
    const d = new Date(ms);
    const two = (n) => String(n).padStart(2, "0");
    return d.getFullYear() + "-" + two(d.getMonth() + 1) + "-" + two(d.getDate()) + " " + two(d.getHours()) + ":" + two(d.getMinutes());
  }

  // Lines at a ceiling, with their names: {axis, at, text, colour} in options.plugins.marks.lines. The name
  // stands above the plot, or on the line if that lies flat.
  const marks = {
    id: "marks",
    afterDatasetsDraw(chart, args, options) {
      const area = chart.chartArea;
      const ctx = chart.ctx;
      (options.lines || []).forEach(function (line) {
        const at = chart.scales[line.axis].getPixelForValue(line.at);
        const flat = line.axis === "y";
        if (flat ? at < area.top || at > area.bottom : at < area.left || at > area.right) return;
        ctx.save();
        ctx.strokeStyle = ctx.fillStyle = colour(line.colour);
        ctx.lineWidth = 2;
        ctx.setLineDash([6, 4]);
        ctx.beginPath();
        ctx.moveTo(flat ? area.left : at, flat ? at : area.top);
        ctx.lineTo(flat ? area.right : at, flat ? at : area.bottom);
        ctx.stroke();
        ctx.font = "600 12px " + Chart.defaults.font.family;
        const width = ctx.measureText(line.text).width;
        // Of two lines, the lower one's name stands on its far side, so that names do not meet.
        const lower = options.lines.some((other) => other.at > line.at);
        if (flat) {
          const left = area.right - width - 6;
          const base = lower ? at + 15 : at - 6;
          ctx.fillStyle = faint("card", 0.85);
          ctx.fillRect(left - 2, base - 11, width + 4, 15);
          ctx.fillStyle = colour(line.colour);
          ctx.fillText(line.text, left, base);
        } else {
          const before = lower ? at - 3 > width : at + width > chart.width;
          ctx.fillText(line.text, before ? at - 3 - width : at + 3, area.top - 7);
        }
        ctx.restore();
      });
    },
  };

  function ceilingLines(axis) {
    const lines = [];
    const same = data.shipped === data.recommended;
    if (data.shipped) {
      lines.push({ axis: axis, at: data.shipped, colour: "line", text: (same ? "in force and recommended, " : "in force, ") + tokens(data.shipped) });
    }
    if (data.recommended && !same) {
      lines.push({ axis: axis, at: data.recommended, colour: "line-2", text: "recommended, " + tokens(data.recommended) });
    }
    return lines;
  }

  // An axis in the page's colours. Colours are functions, so that an update takes them anew.
  function axis(title, more) {
    return Object.assign(
      {
        title: { display: true, text: title, color: () => colour("soft") },
        ticks: { color: () => colour("soft"), callback: (n) => tokens(n) },
        grid: { color: () => colour("rule") },
        border: { color: () => colour("rule") },
      },
      more,
    );
  }
  function ticks(callback, more) {
    return Object.assign({ color: () => colour("soft"), callback: callback }, more);
  }

  function draw(id, config) {
    const canvas = document.getElementById("chart-" + id);
    if (!canvas) return;
    config = config(canvas);
    config.plugins = [marks];
    config.options = Object.assign({ animation: false, responsive: true, maintainAspectRatio: false, locale: "en-US" }, config.options);
    const plugins = config.options.plugins;
    if (plugins.marks && plugins.marks.lines.some((line) => line.axis === "x")) config.options.layout = { padding: { top: 22 } };
    plugins.legend = Object.assign({ position: "bottom", labels: { color: () => colour("text"), usePointStyle: true, boxHeight: 7 } }, plugins.legend);
    plugins.tooltip = Object.assign({ backgroundColor: () => colour("text"), titleColor: () => colour("card"), bodyColor: () => colour("card") }, plugins.tooltip);
    charts.push(new Chart(canvas, config));
    return charts[charts.length - 1];
  }

  function choice(canvas, name, options, change) {
    let bar = canvas.closest("figure").querySelector(".choice");
    if (!bar) {
      bar = document.createElement("div");
      bar.className = "choice";
      canvas.parentElement.before(bar);
    }
    const label = document.createElement("label");
    const select = document.createElement("select");
    for (const option of options) select.append(new Option(option[1], option[0]));
    select.addEventListener("change", () => change(select.value));
    label.append(name, select);
    bar.append(label);
  }

  function occupancy(canvas) {
    let elapsed = false;
    let only = "";
    // Days are marked at local midnight, shorter steps at multiples of it.
    const hour = 3600e3;
    function timeTicks(scale) {
      const span = scale.max - scale.min;
      const steps = [0.25, 0.5, 1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 672, 2016, 8064];
      const step = hour * (steps.find((h) => span / (h * hour) <= 9) || 8064 * Math.ceil(span / hour / 8064 / 9));
      const zero = new Date(scale.min);
      zero.setHours(0, 0, 0, 0);
      const base = elapsed ? 0 : zero.getTime();
      scale.ticks = [];
      for (let t = base; t <= scale.max; t += step) {
        let at = t;
        if (!elapsed && step >= 24 * hour) {
          const day = new Date(t + 2 * hour); // over a change of the clocks
          day.setHours(0, 0, 0, 0);
          at = day.getTime();
        }
        if (at >= scale.min) scale.ticks.push({ value: at });
      }
    }
    function timeText(value) {
      if (elapsed) return +(value / hour).toFixed(2) + " h";
      const text = moment(value);
      return text.endsWith("00:00") ? text.slice(5, 10) : text.slice(5);
    }
    function datasets() {
      return data.curves
        .map(function (c, i) {
          const zero = elapsed ? c.points[0][0] : 0;
          return {
            label: c.session,
            data: c.points.map((p) => ({ x: p[0] - zero, y: p[1] })),
            borderColor: () => colour("s" + (i % 8)),
            backgroundColor: () => colour("s" + (i % 8)),
            borderWidth: 1.5,
            pointStyle: "triangle",
            pointRadius: c.points.map((p) => (p[2] ? 5 : c.points.length === 1 ? 3 : 0)),
            pointHitRadius: 6,
            pointHoverRadius: 5,
            compacted: c.points.map((p) => p[2] === 1),
            hidden: only !== "" && Number(only) !== i,
          };
        });
    }
    function change() {
      chart.data.datasets = datasets();
      chart.options.scales.x.title.text = elapsed ? "since the session's first response" : "local time";
      chart.update();
    }
    if (data.curves.length > 1) {
      choice(canvas, "Session", [["", "all"]].concat(data.curves.map(function (c, i) {
        return [i, c.session + " (" + tokens(c.points.reduce((most, p) => Math.max(most, p[1]), 0)) + ")"];
      })), function (value) {
        only = value;
        change();
      });
    }
    choice(canvas, "Time", [["", "by the clock"], ["1", "since the session began"]], function (value) {
      elapsed = value !== "";
      change();
    });
    let chart;
    return {
      type: "line",
      data: { datasets: datasets() },
      options: {
        parsing: false,
        normalized: true,
        interaction: { mode: "nearest", intersect: false },
        scales: {
          x: axis("local time", { type: "linear", bounds: "data", afterBuildTicks: timeTicks, ticks: ticks(timeText, { maxRotation: 0, autoSkip: true }) }),
          y: axis("occupancy, tokens", { beginAtZero: true }),
        },
        plugins: {
          legend: { display: false },
          marks: { lines: ceilingLines("y") },
          tooltip: {
            callbacks: {
              title: (items) => items[0].dataset.label,
              label: (item) => whole(item.parsed.y) + " tokens, " + (elapsed ? timeText(item.parsed.x) : moment(item.parsed.x)) +
                (item.dataset.compacted[item.dataIndex] ? ", after a compaction" : ""),
            },
          },
        },
      },
      ready: (made) => (chart = made),
    };
  }

  function turns(canvas) {
    const far = data.turns.reduce((most, t) => Math.max(most, t[0]), 0);
    const steps = [];
    for (const b of data.bands) {
      const to = b.to || Math.max(far, b.from + 1e5);
      steps.push({ x: b.from, y: b.cost }, { x: to, y: b.cost });
    }
    let chart;
    choice(canvas, "Cost axis", [["logarithmic", "logarithmic"], ["linear", "linear"]], function (value) {
      chart.options.scales.y.type = value;
      chart.update();
    });
    return {
      data: {
        datasets: [
          { type: "line", label: "average of the band", data: steps, borderColor: () => colour("s1"), backgroundColor: () => colour("s1"), borderWidth: 3, pointRadius: 0, pointStyle: "line", spanGaps: false },
          { type: "scatter", label: "a turn", data: data.turns.map((t) => ({ x: t[0], y: t[1] })), backgroundColor: () => faint("s0", 0.35), borderColor: "transparent", pointRadius: 2.5 },
        ],
      },
      options: {
        scales: {
          x: axis("occupancy, tokens", { type: "linear", min: 0 }),
          y: axis("cost per turn, USD", {
            type: "logarithmic",
            ticks: ticks(dollars, { autoSkip: false }),
            afterBuildTicks(scale) {
              if (scale.type === "logarithmic") scale.ticks = scale.ticks.filter((tick) => /^[125](\.0*\d?)?e/.test(tick.value.toExponential(6)));
            },
          }),
        },
        plugins: {
          marks: { lines: ceilingLines("x") },
          tooltip: { callbacks: { title: (items) => items[0].dataset.label, label: (item) => dollars(item.parsed.y) + " at " + whole(item.parsed.x) + " tokens" } },
        },
      },
      ready: (made) => (chart = made),
    };
  }

  function series(label, key, i, style) {
    return {
      label: label,
      data: data.sweep.map((c) => ({ x: c.ceiling, y: c[key] })),
      borderColor: () => colour("s" + i),
      backgroundColor: () => colour("s" + i),
      borderWidth: 2,
      pointRadius: 4,
      pointStyle: style,
      clip: 8,
    };
  }
  function sweep(title, unit, sets, y) {
    return function () {
      return {
        type: "line",
        data: { datasets: sets },
        options: {
          interaction: { mode: "index", intersect: false },
          scales: { x: axis("candidate ceiling, tokens", { type: "linear", bounds: "data", grace: 0 }), y: axis(title, Object.assign({ beginAtZero: true, ticks: ticks(String) }, y)) },
          plugins: {
            legend: { display: sets.length > 1 },
            marks: { lines: ceilingLines("x") },
            tooltip: { callbacks: { title: (items) => whole(items[0].parsed.x) + " tokens", label: (item) => item.dataset.label + ": " + item.parsed.y + unit } },
          },
        },
      };
    };
  }

  function bars(title, key, i, text) {
    return function () {
      return {
        type: "bar",
        data: {
          labels: data.cache.map((c) => (c.cause.length > 28 ? c.cause.slice(0, 27) + "…" : c.cause)),
          datasets: [{ label: title, data: data.cache.map((c) => c[key]), backgroundColor: () => colour("s" + i), maxBarThickness: 28 }],
        },
        options: {
          indexAxis: "y",
          scales: {
            x: axis(title, { beginAtZero: true, ticks: ticks(text, key === "misses" ? { precision: 0 } : {}) }),
            y: axis("", { title: { display: false }, grid: { display: false }, ticks: { color: () => colour("text"), autoSkip: false } }),
          },
          plugins: { legend: { display: false }, tooltip: { callbacks: { title: (items) => data.cache[items[0].dataIndex].cause, label: (item) => text(item.parsed.x) } } },
        },
      };
    };
  }

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12;
  const all = {
    sweep: sweep("percent", " %", [series("sessions blocked", "blocked", 0, "circle"), series("blocked when near done", "near_done", 1, "triangle"), series("prompt tokens after the first block", "tokens_after", 2, "rect")], { max: 100 }),
    left: sweep("turns", "", [series("turns left", "turns_left", 3, "circle")], {}),
    turns: turns,
    rewritten: bars("cost, USD", "cost", 0, dollars),
    misses: bars("misses", "misses", 3, whole),
    occupancy: occupancy,
  };
  for (const id of Object.keys(all)) {
    let ready;
    const chart = draw(id, function (canvas) {
      const config = all[id](canvas);
      ready = config.ready;
      delete config.ready;
      return config;
    });
    if (chart && ready) ready(chart);
  }

  // Canvases keep the colours they were drawn in.
  function redraw() {
    for (const chart of charts) {
      chart.resize();
      chart.update();
    }
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", function () {
    root.classList.add("printing");
    redraw();
  });
  addEventListener("afterprint", function () {
    root.classList.remove("printing");
    redraw();
  });
})();
