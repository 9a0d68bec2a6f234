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
