'use strict';
const at = name => document.getElementById(name);
const every = (root, selector) => [...root.querySelectorAll(selector)];
const token = new URLSearchParams(location.search).get('token') || '';
const PAUSE = 100;  // milliseconds after the last key until the kernel runs
let session, editor, job, timer;
let shown = '';                // title of the kernel that is on view
let results = new Map();       // title -> what the server sent of it last
let before = new Map(), pinned = false, opened = { lab: '', rung: '' };

const element = (tag, text = '', attributes = {}) => {
  const made = Object.assign(document.createElement(tag), attributes);
  made.textContent = text;
  return made;
};
const digits = value => value.toLocaleString('en-US', { maximumSignificantDigits: Math.abs(value) >= 1e6 ? 12 : 6 });

async function ask(address, document, signal) {
  const answer = await fetch(address, {
    method: document ? 'POST' : 'GET', signal, cache: 'no-store', referrerPolicy: 'no-referrer',
    headers: { 'X-Warplens-Token': token, ...(document ? { 'Content-Type': 'application/json' } : {}) },
    body: document ? JSON.stringify(document) : undefined,
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

// Server-sent events of an answer: name and document of each.
async function* events(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    let end;
    while ((end = text.indexOf('\n\n')) >= 0) {
      const found = /^event: (\w+)\ndata: (.*)$/.exec(text.slice(0, end));
      text = text.slice(end + 2);
      if (found) yield [found[1], JSON.parse(found[2])];
    }
  }
}

const request = () => ({
  source: editor.text, gpu: at('gpu').value, arch: at('arch').value, kernel: at('kernel').value, first: shown,
  names: Object.fromEntries(every(at('names'), 'input').filter(input => input.value !== input.dataset.usual).map(input => [input.name, input.value])),
  lab: opened.lab, rung: opened.rung, size: at('size').value,
});

function say(text, busy = false) {
  at('status').textContent = text;
  document.body.toggleAttribute('data-busy', busy);
}

function problem(error) {
  const box = at('problem');
  box.hidden = !error;
  editor.mark(error ? error.lines : [], 'wrong');
  if (!error) return;
  box.replaceChildren(element('pre', error.text, { tabIndex: 0 }));
  box.firstChild.setAttribute('aria-label', 'Error');
  box.firstChild.setAttribute('role', 'group');
  for (const line of error.lines) box.append(goto(line));
  if (error.printed) {
    const printed = element('pre', error.printed, { tabIndex: 0 });
    printed.setAttribute('aria-label', 'Printed until then');
    printed.setAttribute('role', 'group');
    box.append(element('p', 'Printed until then:'), printed);
  }
  if (error.lines.length) editor.show(error.lines[0], false);
}

const goto = line => {
  const button = element('button', `line ${line}`, { type: 'button', className: 'goto' });
  button.dataset.line = line;
  return button;
};

function later() { clearTimeout(timer); say('edited', true); timer = setTimeout(run, PAUSE); }

async function run() {
  clearTimeout(timer);
  if (job) job.abort();
  const mine = job = new AbortController(), started = performance.now(), past = new Map(results);
  const seconds = () => ((performance.now() - started) / 1000).toFixed(2);
  let failed = false;
  say('compiling', true);
  try {
    for await (const [name, found] of events(await ask('/run', request(), mine.signal))) {
      if (mine !== job) return;
      if (name === 'kernels') {
        const titles = found.kernels.map(kernel => kernel.title);
        results = new Map([...results].filter(([title]) => titles.includes(title)));
        names(found);
        if (!titles.includes(shown)) shown = titles[0];
        tabs(titles);
        say('executing', true);
      } else if (name === 'counts' || name === 'time') {
        if (name === 'counts' && !failed) problem(null);
        if (name === 'counts') performance.mark('warplens-counts');
        if (name === 'time') performance.mark('warplens-time');
        results.set(found.title, found);
        draw(found);
        compare(past);
        say(`${name === 'counts' ? 'counts' : 'prediction'} after ${seconds()} s`, true);
      } else if (name === 'error') {
        failed = true;
        stale(found.title);
        problem(found);
      } else if (name === 'done') {
        say(`${failed ? 'error' : 'done'} after ${seconds()} s`);
        if (!failed && !pinned) before = past;
        compare(before);
      }
    }
    if (mine === job && document.body.hasAttribute('data-busy')) throw new Error('the server has ended the answer');
  } catch (error) {
    if (mine !== job || error.name === 'AbortError') return;
    say('error');
    problem({ text: error instanceof TypeError ? 'The server does not answer: it was ended, or is busy with other pages.' : error.message, lines: [] });
  }
}

function names(found) {
  const group = at('names'), known = every(group, 'input');
  if (known.map(input => input.name).join() !== found.names.map(each => each.name).join() || known.some((input, place) => input.dataset.text !== found.names[place].text)) {
    group.replaceChildren(...found.names.map(each => {
      const label = element('label', `${each.name} `), input = element('input', '', { type: 'text', name: each.name });
      input.value = input.dataset.usual = opened.lab ? found.values[each.name] || each.text : each.text;
      input.dataset.text = each.text;
      input.size = Math.max(6, Math.min(input.value.length + 1, 20));
      input.addEventListener('change', run);
      label.append(input);
      return label;
    }));
  }
  if (at('kernel').value || opened.lab) return;
  const choice = at('kernel'), titles = found.kernels.map(kernel => kernel.title);
  if (every(choice, 'option').slice(1).map(option => option.value).join() !== titles.join())
    choice.replaceChildren(new Option('all', ''), ...titles.map(title => new Option(title)));
}

function tabs(titles) {
  const list = at('tabs');
  at('waiting')?.remove();
  list.hidden = titles.length < 2;
  if (every(list, 'button').map(button => button.textContent).join() !== titles.join()) {
    list.replaceChildren(...titles.map((title, place) => {
      const tab = element('button', title, { type: 'button', id: `tab${place}` });
      tab.setAttribute('role', 'tab');
      tab.setAttribute('aria-controls', `panel${place}`);
      tab.addEventListener('click', () => view(title));
      tab.addEventListener('keydown', event => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = titles[(place + step + titles.length) % titles.length];
        view(next);
        every(list, 'button').find(button => button.textContent === next).focus();
      });
      return tab;
    }));
    at('panels').replaceChildren(...titles.map((title, place) => {
      const panel = element('div', '', { id: `panel${place}`, className: 'panel', hidden: true });
      panel.dataset.title = title;
      if (titles.length > 1) { panel.setAttribute('role', 'tabpanel'); panel.setAttribute('aria-labelledby', `tab${place}`); }
      return panel;
    }));
    for (const found of results.values()) draw(found);
  }
  view(shown);
}

function view(title) {
  shown = title;
  every(at('tabs'), 'button').forEach(tab => { const on = tab.textContent === title; tab.setAttribute('aria-selected', on); tab.tabIndex = on ? 0 : -1; });
  every(at('panels'), '.panel').forEach(panel => { panel.hidden = panel.dataset.title !== title; });
  heat();
  compare(before);
  caret(editor.line);
}

function draw(found) {
  const panel = every(at('panels'), '.panel').find(each => each.dataset.title === found.title);
  if (!panel) return;
  const pane = panel.querySelector('.pane'), top = pane ? pane.scrollTop : 0;
  panel.classList.remove('stale');
  panel.innerHTML = found.html;  // made by the server from templates that escape
  for (const text of [...(found.wrong || [])].reverse()) panel.prepend(element('p', `Wrong result: ${text}`, { className: 'warn' }));
  if (panel.querySelector('.pane')) panel.querySelector('.pane').scrollTop = top;
  if (found.title === shown) { heat(); caret(editor.line); }
}

// Results of a state before the error stay, and are marked.
function stale(title) {
  for (const panel of every(at('panels'), '.panel')) {
    if ((title && panel.dataset.title !== title) || !panel.children.length || panel.classList.contains('stale')) continue;
    panel.classList.add('stale');
    panel.prepend(element('p', 'These are the results before the error.', { className: 'note' }));
  }
}

function heat() {
  const found = results.get(shown), kind = at('heat').value;
  editor.heat.clear();
  if (found) {
    const amounts = Object.entries(found.lines).map(([line, row]) => [+line, row[kind] || 0]);
    const total = kind === 'stalls' ? 1 : amounts.reduce((sum, [, amount]) => sum + amount, 0);
    for (const [line, amount] of amounts) if (amount / total >= 0.0005)
      editor.heat.set(line, { text: `${(100 * amount / total).toFixed(amount / total < 0.1 ? 1 : 0)} %`, step: Math.min(Math.floor(amount / total * 5) + 1, 5) });
  }
  editor.beside();
}

function compare(past) {
  const now = results.get(shown), then = past.get(shown);
  at('changes').hidden = !now || !then || (now === then);
  if (at('changes').hidden) return;
  at('changes-of').textContent = shown;
  const old = new Map(then.compared.map(row => [row[0], row])), body = at('changes').querySelector('tbody');
  body.replaceChildren(...now.compared.filter(([name, value]) => old.has(name) && (value || old.get(name)[1])).map(([name, value, unit, kind]) => {
    const was = old.get(name)[1], row = element('tr'), same = was === value, less = value < was;
    const ratio = same ? '=' : was ? `× ${(value / was).toPrecision(4).replace(/\.?0+$/, '')}` : 'new';
    row.append(element('th', name, { scope: 'row' }), element('td', `${digits(was)} ${unit}`), element('td', `${digits(value)} ${unit}`),
      element('td', ratio, { className: same ? '' : (name === 'Theoretical occupancy') !== less ? 'good' : 'bad' }), element('td', kind, { className: 'words' }));
    return row;
  }));
  const differ = Object.keys(now.metrics).filter(name => name in then.metrics && now.metrics[name] !== then.metrics[name]);
  at('changes').querySelector('summary').textContent = differ.length ? `${differ.length} metrics differ` : 'No metric differs';
  at('differing').tBodies[0].replaceChildren(...differ.map(name => {
    const row = element('tr');
    row.append(element('th', name, { scope: 'row' }), element('td', digits(then.metrics[name])), element('td', digits(now.metrics[name])));
    return row;
  }));
}

// The instructions of the caret's line.
function caret(line) {
  const pane = every(at('panels'), '.panel').find(panel => !panel.hidden)?.querySelector('.pane');
  if (!pane) return;
  const rows = every(pane, 'tr[data-line]');
  rows.forEach(row => row.classList.toggle('on', +row.dataset.line === line));
  const first = rows.find(row => row.classList.contains('on'));
  if (first && (first.offsetTop < pane.scrollTop + 30 || first.offsetTop > pane.scrollTop + pane.clientHeight - 40)) pane.scrollTop = first.offsetTop - pane.clientHeight / 3;
}

// An instruction: its line is shown.
function select(row) {
  const line = +row.dataset.line, pane = row.closest('.pane');
  every(pane, 'tr.at').forEach(other => other.classList.remove('at'));
  row.classList.add('at');
  every(pane, 'tr[data-line]').forEach(other => other.classList.toggle('on', +other.dataset.line === line));
  row.scrollIntoView({ block: 'nearest' });
  editor.show(line, false);
  editor.mark([line], 'seen');
}

function keep(name, text, type) {
  const link = element('a', '', { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function open(lab, rung) {
  const found = await (await ask('/open', { lab, rung })).json();
  const climbs = opened.lab === found.lab && found.lab;
  opened = { lab: found.lab, rung: found.rung };
  at('file').textContent = found.file;
  at('lab').value = found.lab;
  at('rungs').hidden = !found.lab;
  at('rung').replaceChildren(...found.rungs.map(title => new Option(title)));
  at('rung').value = found.rung;
  at('kernel').replaceChildren(new Option('all', ''));
  at('kernel').disabled = !!found.lab;
  at('names').replaceChildren();
  at('teaches').hidden = !found.teaches;
  at('teaches').textContent = found.teaches;
  step(0);
  const last = results.get(shown);
  editor.text = found.source;
  if (climbs && last && !pinned) { results = new Map([[found.rung, last]]); shown = found.rung; } else if (!climbs) { results = new Map(); before = new Map(); }
  await run();
}

function step(by) {
  const options = every(at('rung'), 'option').map(option => option.value), place = options.indexOf(at('rung').value) + by;
  at('down').disabled = place <= 0;
  at('up').disabled = place >= options.length - 1;
  if (by && options[place]) open(opened.lab, options[place]);
}

async function begin() {
  const root = document.documentElement, order = ['', 'light', 'dark'];
  const theme = next => { if (next) root.dataset.theme = next; else delete root.dataset.theme; at('theme').textContent = `Theme: ${next || 'auto'}`; };
  theme(localStorage.getItem('warplens-theme') || '');
  at('theme').addEventListener('click', () => {
    const next = order[(order.indexOf(root.dataset.theme || '') + 1) % order.length];
    localStorage.setItem('warplens-theme', next);
    theme(next);
  });
  editor = new SourceEditor(at('editor'), { change: later, move: caret, run });
  try { session = await (await ask('/session')).json(); } catch (error) { say('error'); problem({ text: error.message, lines: [] }); return; }
  at('gpu').replaceChildren(...session.gpus.map(gpu => new Option(gpu.title, gpu.name)), new Option('none: counts alone', 'none'));
  at('gpu').value = session.gpu;
  at('arch').replaceChildren(new Option('that of the GPU', ''), ...session.architectures.map(arch => new Option(arch)));
  at('lab').append(...session.labs.map(lab => new Option(`${lab.name}: ${lab.title}`, lab.name)));
  for (const name of ['gpu', 'arch', 'kernel', 'size']) at(name).addEventListener('change', run);
  at('size').addEventListener('change', () => at('names').replaceChildren());
  at('choices').addEventListener('submit', event => event.preventDefault());
  at('heat').addEventListener('change', heat);
  at('lab').addEventListener('change', () => open(at('lab').value, ''));
  at('rung').addEventListener('change', () => open(opened.lab, at('rung').value));
  at('up').addEventListener('click', () => step(1));
  at('down').addEventListener('click', () => step(-1));
  at('pin').addEventListener('click', () => {
    pinned = !pinned;
    before = new Map(results);
    at('pin').setAttribute('aria-pressed', pinned);
    at('changes-title').textContent = pinned ? 'Since the kept state' : 'Since the last state';
    compare(before);
  });
  at('save').addEventListener('click', () => keep(at('file').textContent.split('/').pop(), editor.text, 'text/plain'));
  at('report').addEventListener('click', async () => {
    const button = at('report');
    button.disabled = true;
    button.textContent = 'The report is being made';
    try { keep(`${at('file').textContent.split('/').pop().replace(/\.\w+$/, '')}.html`, await (await ask('/report', request())).text(), 'text/html'); }
    catch (error) { problem({ text: error.message, lines: [] }); }
    button.disabled = false;
    button.textContent = 'Download the report';
  });
  document.addEventListener('click', event => {
    const button = event.target.closest('.goto'), row = event.target.closest('tr[data-line]');
    if (button) editor.show(+button.dataset.line, true);
    else if (row) select(row);
  });
  document.addEventListener('keydown', event => {
    const pane = event.target.closest('.pane'), by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (!pane || !by || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = every(pane, 'tr[data-line]'), place = rows.findIndex(row => row.classList.contains('at'));
    event.preventDefault();
    select(rows[Math.max(0, Math.min(rows.length - 1, place + by))]);
  });
  await open(session.lab, session.rung);
}
begin();
