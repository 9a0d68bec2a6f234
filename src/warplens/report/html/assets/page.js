'use strict';
const all = (root, selector) => [...root.querySelectorAll(selector)];
const amount = cell => cell ? parseFloat(cell.textContent.replace(/,/g, '')) || 0 : 0;
const later = (wait, work) => { let timer; return (...given) => { clearTimeout(timer); timer = setTimeout(work, wait, ...given); }; };

// Theme: that of the system, until a reader chooses.
{
  const button = document.getElementById('theme'), root = document.documentElement, order = ['', 'light', 'dark'];
  const show = () => { button.textContent = `Theme: ${root.dataset.theme || 'auto'}`; dispatchEvent(new Event('themechange')); };
  button.hidden = false;
  button.addEventListener('click', () => {
    const next = order[(order.indexOf(root.dataset.theme || '') + 1) % order.length];
    if (next) root.dataset.theme = next; else delete root.dataset.theme;
    try { localStorage.setItem('warplens-theme', next); } catch { /* a file without storage */ }
    show();
  });
  show();
}

// Contents: the part that is being read is marked.
for (const nav of all(document, '.contents')) {
  const links = new Map(all(nav, 'a').map(link => [document.querySelector(link.hash), link]));
  const seen = new Set();
  const watch = new IntersectionObserver(entries => {
    for (const entry of entries) entry.isIntersecting ? seen.add(entry.target) : seen.delete(entry.target);
    const first = [...links.keys()].find(part => seen.has(part));
    if (!first) return;
    for (const [part, link] of links) part === first ? link.setAttribute('aria-current', 'true') : link.removeAttribute('aria-current');
  }, { rootMargin: '-100px 0px -55% 0px' });
  for (const part of links.keys()) if (part) watch.observe(part);
}

// A link to a part inside of something closed opens it; print has everything.
const open = target => { for (let at = target; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true; };
addEventListener('hashchange', () => open(document.getElementById(location.hash.slice(1))));
addEventListener('beforeprint', () => all(document, 'details').forEach(at => { at.open = true; }));

for (const input of all(document, '.filter')) {
  const rows = all(document.getElementById(input.getAttribute('aria-controls')), 'tbody tr'), count = input.closest('.tools').querySelector('.count');
  input.addEventListener('input', later(80, () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every(word => text.includes(word));
      left += !row.hidden;
    }
    count.textContent = words.length ? `${left} of ${rows.length}` : '';
  }));
}

// Rows of a long sweep between its first and its last.
for (const fold of all(document, 'tr.sweep')) {
  const rows = all(document, `tr[data-of="${fold.dataset.sweep}"]`);
  fold.hidden = false;
  rows.forEach(row => { row.hidden = true; });
  fold.querySelector('button').addEventListener('click', () => { fold.hidden = true; rows.forEach(row => { row.hidden = false; }); });
}

// A pane of the listing.  Rows of a large one are in a template, and only those in view are in its table.
const ROW = 20, AROUND = 50;  // pixels of a row, as in page.css; rows above and below the view
class Pane {
  constructor(element) {
    this.element = element;
    this.table = element.querySelector('table');
    const template = element.querySelector('template');
    this.rows = []; this.display = []; this.group = new Map(); this.groups = [];
    for (const body of all(template ? template.content : this.table, 'tbody')) {
      const rows = [...body.rows], head = rows[0].classList.contains('fold') ? rows[0] : null;
      const group = { head, rows: head ? rows.slice(1) : rows };
      this.groups.push(group);
      for (const row of rows) { this.group.set(row, group); this.display.push(row); }
      this.rows.push(...group.rows);
    }
    if (!template) return;
    this.body = this.table.createTBody();
    this.above = this.spacer(); this.below = this.spacer();
    this.table.setAttribute('aria-rowcount', this.display.length + 1);
    this.display.forEach((row, place) => row.setAttribute('aria-rowindex', place + 2));
    let waits = false;
    element.addEventListener('scroll', () => {
      if (waits) return;
      waits = true;
      requestAnimationFrame(() => { waits = false; this.draw(); });
    }, { passive: true });
    addEventListener('resize', () => this.draw());
    addEventListener('beforeprint', () => this.body.replaceChildren(...this.shown));
    addEventListener('afterprint', () => this.refresh());
    this.refresh();
  }

  spacer() {
    const row = document.createElement('tr'), cell = row.insertCell();
    row.setAttribute('aria-hidden', 'true');
    cell.colSpan = 20;
    return row;
  }

  refresh() {
    if (!this.body) return;
    this.shown = this.display.filter(row => !row.hidden);
    this.from = -1;
    this.draw();
  }

  draw() {
    const top = Math.floor(this.element.scrollTop / ROW), bottom = top + Math.ceil(this.element.clientHeight / ROW);
    const inside = this.from >= 0 && (this.from === 0 || this.from + 5 < top) && (this.to === this.shown.length || this.to - 5 > bottom);
    if (inside) return;
    const first = Math.max(top - AROUND, 0), last = Math.min(bottom + AROUND, this.shown.length);
    this.from = first; this.to = last;
    this.above.style.height = `${first * ROW}px`;
    this.below.style.height = `${(this.shown.length - last) * ROW}px`;
    this.body.replaceChildren(this.above, ...this.shown.slice(first, last), this.below);
  }

  fold(group, wide) {
    if (!group.head || !group.head.querySelector('button')) return;
    group.head.querySelector('button').setAttribute('aria-expanded', wide);
    for (const row of group.rows) row.hidden = !wide;
  }

  reveal(row) {
    if (row.hidden) { this.fold(this.group.get(row), true); this.refresh(); }
    const pane = this.element, head = this.table.tHead.offsetHeight;
    const top = this.body ? head + ROW * this.shown.indexOf(row) : row.offsetTop;
    if (top < pane.scrollTop + head + ROW || top > pane.scrollTop + pane.clientHeight - 2 * ROW) pane.scrollTop = Math.max(top - pane.clientHeight / 3, 0);
    if (this.body) this.draw();
  }

  // A table of fixed layout is as wide as the columns that are shown.
  widths() {
    const hidden = new Set([...this.table.classList].map(name => /^no(\d+)$/.exec(name)).filter(Boolean).map(found => +found[1]));
    const columns = all(this.table, 'col');
    columns.forEach((column, place) => { column.hidden = hidden.has(place + 1); });
    this.table.style.width = `max(100%, ${columns.reduce((sum, column) => sum + (column.hidden ? 0 : parseFloat(column.style.width)), 0)}px)`;
  }
}

// Source and SASS side by side.
class Listing {
  static heats = { executed: [1, 2], sectors: [2, 4], conflicts: [3, 6], stalls: [4, 7] };  // columns of the source, of SASS

  constructor(root) {
    this.root = root;
    this.tools = document.querySelector(`[data-for="${root.id}"]`);
    this.detail = this.tools.nextElementSibling;
    this.panes = all(root, '.pane').map(element => new Pane(element));
    this.sass = this.panes[this.panes.length - 1];
    this.source = this.panes.length > 1 ? this.panes[0] : null;
    this.paneOf = new Map(); this.byLine = new Map(); this.byId = new Map();
    for (const pane of this.panes) for (const row of pane.rows) {
      this.paneOf.set(row, pane);
      if (row.id) this.byId.set(row.id, row);
      const line = row.dataset.l;
      if (line === undefined) continue;
      if (!this.byLine.has(line)) this.byLine.set(line, []);
      this.byLine.get(line).push(row);
    }
    this.byOffset = new Map(this.sass.rows.map(row => [row.cells[0].textContent, row]));
    this.marked = []; this.hits = []; this.hit = -1; this.selected = null;
    this.listen();
    this.paint();
  }

  listen() {
    this.root.addEventListener('click', event => {
      const head = event.target.closest('.fold'), row = event.target.closest('tr');
      if (event.target.closest('.fold button')) this.turn(head);
      else if (this.paneOf.has(row)) this.select(row, true);
    });
    this.root.addEventListener('mouseover', event => { if (!this.selected) this.mark(event.target.closest('tr')); });
    this.root.addEventListener('mouseleave', () => { if (!this.selected) this.mark(null); });
    this.tools.querySelector('.heat').addEventListener('change', () => this.paint());
    const find = this.tools.querySelector('.find');
    find.addEventListener('input', later(80, () => this.search(find.value)));
    find.addEventListener('keydown', event => {
      if (event.key === 'Enter') { this.step(event.shiftKey ? -1 : 1); event.preventDefault(); }
      if (event.key === 'Escape') { find.value = ''; this.search(''); find.blur(); }
    });
    for (const button of all(this.tools, '.column')) button.addEventListener('click', () => {
      const on = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', on);
      this.sass.table.classList.toggle(`no${button.dataset.column}`, !on);
      this.sass.widths();
    });
    this.counts = this.tools.querySelector('.counts');
    if (this.counts) this.counts.addEventListener('click', () => {
      this.counts.setAttribute('aria-pressed', this.counts.getAttribute('aria-pressed') !== 'true');
      this.paint();
    });
    this.tools.querySelector('.foldall').addEventListener('click', event => {
      const fold = event.target.textContent === 'Fold all';
      for (const group of this.sass.groups) this.sass.fold(group, !fold);
      this.sass.refresh();
      event.target.textContent = fold ? 'Unfold all' : 'Fold all';
    });
    const help = this.root.closest('.part').querySelector('.keyhelp');
    this.tools.querySelector('.keys').addEventListener('click', () => help.showModal());
    this.root.addEventListener('keydown', event => this.key(event, find));
    addEventListener('hashchange', () => this.fromAddress());
    this.fromAddress();
  }

  fromAddress() {
    const row = this.byId.get(decodeURIComponent(location.hash.slice(1)));
    if (!row) return;
    this.root.scrollIntoView({ block: 'center' });
    this.select(row, true, true);
  }

  key(event, find) {
    if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|BUTTON/.test(event.target.tagName)) return;
    const pane = this.panes.find(found => found.element.contains(event.target)) || this.sass;
    const rows = pane.rows.filter(row => !row.hidden), at = rows.indexOf(this.selected);
    const acts = {
      j: () => this.select(rows[Math.min(at + 1, rows.length - 1)], false, true), k: () => this.select(rows[Math.max(at - 1, 0)], false, true),
      Enter: () => this.selected && this.select(this.selected, true), '/': () => find.focus(), n: () => this.step(1), N: () => this.step(-1),
      f: () => this.selected && this.turn(this.paneOf.get(this.selected).group.get(this.selected).head),
      h: () => { const heat = this.tools.querySelector('.heat'); heat.selectedIndex = (heat.selectedIndex + 1) % heat.length; this.paint(); },
      Escape: () => this.select(null),
    };
    acts.ArrowDown = acts.j; acts.ArrowUp = acts.k;
    if (acts[event.key]) { acts[event.key](); event.preventDefault(); }
  }

  // Folds or unfolds the rows below a heading.
  turn(head) {
    const pane = head && this.panes.find(found => found.group.has(head));
    if (!pane || !head.querySelector('button')) return;
    pane.fold(pane.group.get(head), head.querySelector('button').getAttribute('aria-expanded') !== 'true');
    pane.refresh();
  }

  paint() {
    const [ofSource, ofSass] = Listing.heats[this.tools.querySelector('.heat').value];
    for (const [pane, column, text] of [[this.source, ofSource, 5], [this.sass, ofSass, 1]]) {
      if (!pane) continue;
      const amounts = pane.rows.map(row => amount(row.cells[column])), most = amounts.reduce((a, b) => Math.max(a, b), 0);
      pane.rows.forEach((row, place) => {
        const step = most && amounts[place] ? Math.min(Math.floor(5 * amounts[place] / most) + 1, 5) : 0;
        const heat = `${column}:${step}`;
        if (row.dataset.h === heat) return;
        row.dataset.h = heat;
        for (const cell of row.cells) if (/\b[ht]\d/.test(cell.className)) cell.className = cell.className.replace(/ ?\b[ht]\d/, '');
        if (!step) return;
        row.cells[column].className += ` h${step}`;
        row.cells[text].className += ` t${step}`;
      });
    }
    const every = this.counts && this.counts.getAttribute('aria-pressed') === 'true';
    if (this.source) for (const column of [1, 2, 3, 4]) this.source.table.classList.toggle(`no${column + 1}`, !every && column !== ofSource);
    for (const pane of this.panes) pane.widths();
  }

  mark(row) {
    for (const old of this.marked) old.classList.remove('on', 'from', 'uses');
    this.marked = [];
    if (!this.paneOf.has(row)) return;
    const add = (target, name) => { if (target) { target.classList.add(name); this.marked.push(target); } };
    for (const other of this.byLine.get(row.dataset.l) || []) add(other, 'on');
    if (this.paneOf.get(row) !== this.sass) return;
    for (const offset of this.reads(row)) add(this.byOffset.get(offset), 'from');
    for (const other of this.users(row)) add(other, 'uses');
  }

  reads(row) { return row.cells[10].textContent.match(/\b[0-9a-f]{4,}\b/g) || []; }

  users(row) {
    if (!this.readers) {
      this.readers = new Map();
      for (const other of this.sass.rows) for (const read of this.reads(other)) {
        if (!this.readers.has(read)) this.readers.set(read, []);
        this.readers.get(read).push(other);
      }
    }
    return this.readers.get(row.cells[0].textContent) || [];
  }

  select(row, follow, scroll) {
    if (this.selected) this.selected.classList.remove('at');
    this.selected = row;
    this.mark(row);
    if (!row) { this.detail.textContent = 'Nothing is selected.'; return; }
    row.classList.add('at');
    const pane = this.paneOf.get(row);
    if (scroll) pane.reveal(row);
    const other = (this.byLine.get(row.dataset.l) || []).find(found => this.paneOf.get(found) !== pane);
    if (follow && other) this.paneOf.get(other).reveal(other);
    this.detail.textContent = pane === this.sass ? this.instruction(row, other) : this.line(row);
  }

  instruction(row, other) {
    const text = place => row.cells[place].textContent, line = other ? ` Source line ${other.cells[0].textContent}.` : '';
    const stall = row.dataset.s ? ` Warps wait here mostly with ${row.dataset.s}.` : '';
    const users = this.users(row).map(found => found.cells[0].textContent).join(' ') || 'no instruction';
    return `${text(0)} ${text(1)}: ${text(11) || 'no description'}.${line}${stall} Reads results of ${text(10) || 'no instruction'}; its own is read by ${users}.`;
  }

  line(row) {
    const count = (this.byLine.get(row.dataset.l) || []).length - 1;
    return `Line ${row.cells[0].textContent}: ${count > 0 ? count : 'no'} instruction${count === 1 ? '' : 's'}.`;
  }

  search(text) {
    for (const row of this.hits) row.classList.remove('hit');
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    this.hit = -1;
    this.hits = words.length ? [...this.paneOf.keys()].filter(row => {
      const found = row.textContent.toLowerCase();
      return words.every(word => found.includes(word));
    }) : [];
    for (const row of this.hits) row.classList.add('hit');
    this.count();
    if (this.hits.length) this.step(1);
  }

  step(by) {
    if (!this.hits.length) return;
    this.hit = (this.hit + by + this.hits.length) % this.hits.length;
    this.select(this.hits[this.hit], false, true);
    this.count();
  }

  count() {
    const searched = this.tools.querySelector('.find').value.trim();
    this.tools.querySelector('.count').textContent = !searched ? '' : this.hits.length ? `${this.hit + 1} of ${this.hits.length}` : 'not found';
  }
}
for (const root of all(document, '.listing')) new Listing(root);

// Timeline of one SM: a colour a group of states, hatched the second of a group, so that no state is told by colour alone.
class Timeline {
  static groups = [['selected'], ['long_scoreboard', 'lg_throttle'], ['short_scoreboard', 'mio_throttle'], ['wait', 'math_pipe_throttle', 'dispatch_stall'], ['barrier', 'membar'], ['no_instruction', 'branch_resolving'], ['not_selected'], ['drain']];
  static colours = ['', '#e0812c', '#f0c541', '#5a9bd5', '#a675c4', '#6fb08a', '#b9c1cb', '#8a6a55'];

  constructor(root) {
    this.root = root;
    this.data = JSON.parse(root.querySelector('script').textContent);
    this.canvas = root.querySelector('canvas');
    this.note = root.querySelector('.at');
    this.from = 0; this.to = this.data.cycles;
    this.height = Math.max(8, Math.min(18, Math.floor(520 / this.data.warps.length)));
    this.canvas.style.height = `${this.height * this.data.warps.length + 24}px`;
    const on = (name, act) => root.querySelector(name).addEventListener('click', act);
    on('.nearer', () => this.zoom(0.5)); on('.farther', () => this.zoom(2)); on('.whole', () => this.show(0, this.data.cycles)); on('.save', () => this.save());
    this.canvas.addEventListener('keydown', event => {
      const span = this.to - this.from, acts = { ArrowLeft: () => this.move(-span / 5), ArrowRight: () => this.move(span / 5), '+': () => this.zoom(0.5), '=': () => this.zoom(0.5), '-': () => this.zoom(2), Home: () => this.show(0, this.data.cycles) };
      if (acts[event.key]) { acts[event.key](); event.preventDefault(); }
    });
    this.canvas.addEventListener('wheel', event => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.cycle(event));
    }, { passive: false });
    this.canvas.addEventListener('pointerdown', event => { this.drag = [event.clientX, this.from]; this.canvas.setPointerCapture(event.pointerId); });
    this.canvas.addEventListener('pointerup', () => { this.drag = null; });
    this.canvas.addEventListener('pointermove', event => {
      if (this.drag) return this.move(this.drag[1] - (event.clientX - this.drag[0]) * (this.to - this.from) / this.canvas.clientWidth - this.from);
      this.tell(event);
    });
    addEventListener('themechange', () => this.draw());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    this.legend();
  }

  cycle(event) { return this.from + event.offsetX / this.canvas.clientWidth * (this.to - this.from); }
  move(by) { const span = this.to - this.from, from = Math.min(Math.max(this.from + by, 0), this.data.cycles - span); this.show(from, from + span); }
  zoom(factor, around = (this.from + this.to) / 2) {
    const span = Math.min(Math.max((this.to - this.from) * factor, 20), this.data.cycles), from = Math.min(Math.max(around - (around - this.from) * span / (this.to - this.from), 0), this.data.cycles - span);
    this.show(from, from + span);
  }
  show(from, to) { this.from = from; this.to = to; if (!this.waits) { this.waits = true; requestAnimationFrame(() => { this.waits = false; this.draw(); }); } }

  // Colour of a state, and how often it is hatched.
  look(reason) {
    const group = Timeline.groups.findIndex(names => names.includes(reason));
    return group < 0 ? ['#888888', 0] : [Timeline.colours[group] || getComputedStyle(this.root).color, Timeline.groups[group].indexOf(reason)];
  }

  fill(context, reason) {
    const [colour, hatched] = this.look(reason);
    if (!hatched) return colour;
    const tile = document.createElement('canvas'), size = hatched > 1 ? 4 : 7;
    tile.width = tile.height = size;
    const pen = tile.getContext('2d');
    pen.fillStyle = colour; pen.fillRect(0, 0, size, size);
    pen.strokeStyle = 'rgba(0,0,0,.55)'; pen.beginPath(); pen.moveTo(0, size); pen.lineTo(size, 0); pen.stroke();
    return context.createPattern(tile, 'repeat');
  }

  legend() {
    const used = new Set(this.data.lanes.flatMap(lane => lane.filter((_, place) => place % 4 === 2)));
    this.root.querySelector('.states').replaceChildren(...this.data.reasons.filter((_, place) => used.has(place)).map(reason => {
      const item = document.createElement('li'), mark = document.createElement('i'), [colour, hatched] = this.look(reason);
      mark.style.background = hatched ? `repeating-linear-gradient(45deg, ${colour} 0 ${6 - 2 * hatched}px, rgba(0,0,0,.55) ${6 - 2 * hatched}px ${7 - 2 * hatched}px)` : reason === 'selected' ? 'currentColor' : colour;
      item.append(mark, reason);
      return item;
    }));
  }

  draw() {
    const ratio = devicePixelRatio || 1, width = this.canvas.clientWidth, tall = this.canvas.clientHeight;
    if (!width) return;
    this.canvas.width = width * ratio; this.canvas.height = tall * ratio;
    const pen = this.canvas.getContext('2d'), scale = width / (this.to - this.from), style = getComputedStyle(this.root);
    pen.scale(ratio, ratio);
    const fills = this.data.reasons.map(reason => this.fill(pen, reason)), issue = this.data.reasons.indexOf('selected');
    this.data.lanes.forEach((lane, row) => {
      const y = row * this.height;
      for (const issued of [false, true]) for (let at = 0; at < lane.length; at += 4) {
        if ((lane[at + 2] === issue) !== issued || lane[at] > this.to || lane[at] + lane[at + 1] < this.from) continue;
        pen.fillStyle = fills[lane[at + 2]];
        pen.fillRect((lane[at] - this.from) * scale, y, Math.max(lane[at + 1] * scale, issued ? 0.6 : 0.4), this.height - 1);
      }
    });
    const step = [1, 2, 5].flatMap(digit => [...Array(8).keys()].map(power => digit * 10 ** power)).sort((a, b) => a - b).find(size => size * scale > 80) || 1e8;
    pen.fillStyle = style.color; pen.font = '11px system-ui';
    for (let tick = Math.ceil(this.from / step) * step; tick <= this.to; tick += step) {
      const x = (tick - this.from) * scale, base = this.height * this.data.lanes.length;
      pen.fillRect(x, base, 1, 5);
      pen.fillText(`${tick.toLocaleString('en')}${tick === 0 ? ' cycles' : ''}`, Math.min(x + 3, width - 60), base + 16);
    }
  }

  tell(event) {
    const row = Math.floor(event.offsetY / this.height), lane = this.data.lanes[row], cycle = this.cycle(event);
    if (!lane) return;
    for (let at = 0; at < lane.length; at += 4) if (lane[at] <= cycle && cycle < lane[at] + lane[at + 1]) {
      const [block, warp] = this.data.warps[row], index = lane[at + 3];
      this.note.textContent = `Block ${block}, warp ${warp}, cycle ${Math.floor(cycle).toLocaleString('en')}: ${this.data.reasons[lane[at + 2]]} for ${lane[at + 1].toLocaleString('en')} cycles at ${(16 * index).toString(16).padStart(4, '0')} ${this.data.code[index]}`;
      return;
    }
    this.note.textContent = '\u00a0';
  }

  // The Trace Event Format, as `warplens explain --trace` writes it.
  save() {
    const { warps, lanes, reasons, code, megahertz } = this.data, events = [];
    warps.forEach(([block, warp], row) => events.push({ ph: 'M', pid: 0, tid: row, name: 'thread_name', args: { name: `block ${block}, warp ${warp}` } }));
    lanes.forEach((lane, row) => { for (let at = 0; at < lane.length; at += 4) { const reason = reasons[lane[at + 2]], opcode = code[lane[at + 3]]; events.push({ ph: 'X', pid: 0, tid: row, cat: reason, name: reason === 'selected' ? opcode : reason, ts: lane[at] / megahertz, dur: lane[at + 1] / megahertz, args: { instruction: `${(16 * lane[at + 3]).toString(16).padStart(4, '0')} ${opcode}` } }); } });
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([JSON.stringify({ displayTimeUnit: 'ns', traceEvents: events })], { type: 'application/json' }));
    link.download = `${this.root.dataset.name.replace(/\W+/g, '_')}.trace.json`;
    link.click();
    URL.revokeObjectURL(link.href);
  }
}
for (const root of all(document, '.timeline')) new Timeline(root);
