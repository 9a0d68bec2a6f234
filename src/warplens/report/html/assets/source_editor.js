'use strict';
// Source editor: a textarea, with coloured text behind it and line numbers beside it.  Undo, selection, search and
// screen readers are the browser's own.

const WORDS = new Set(('alignas auto break case class const constexpr continue default delete do else enum explicit extern false for friend goto if inline int long namespace new nullptr operator private protected public return short signed sizeof static static_assert static_cast reinterpret_cast struct switch template this true typedef typename union unsigned using virtual void volatile while bool char double float half uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t size_t float2 float4 int2 int4 uint4').split(' '));
const DEVICE = new Set(('__global__ __device__ __shared__ __constant__ __host__ __restrict__ __launch_bounds__ __forceinline__ __managed__ threadIdx blockIdx blockDim gridDim warpSize').split(' '));
const TOKEN = /(\/\/[^\n]*|\/\*[^]*?(?:\*\/|$))|("(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])'?)|(^[ \t]*#[ \t]*\w+)|(\b\d[\w.']*)|([A-Za-z_]\w*)/gm;
const escaped = text => text.replace(/[&<>]/g, letter => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' }[letter]));

function coloured(text) {
  let html = '', from = 0;
  for (const found of text.matchAll(TOKEN)) {
    const [token, comment, string, directive, number, name] = found;
    const kind = comment ? 'comment' : string ? 'string' : directive ? 'directive' : number ? 'number'
      : WORDS.has(name) ? 'word' : DEVICE.has(name) || name.startsWith('__') ? 'device' : '';
    html += escaped(text.slice(from, found.index)) + (kind ? `<i class="t-${kind}">${escaped(token)}</i>` : escaped(token));
    from = found.index + token.length;
  }
  return html + escaped(text.slice(from));
}

class SourceEditor {
  // change: called after each edit;  move: with the line of the caret;  run: for Ctrl+Enter
  constructor(root, { change, move, run }) {
    this.root = root;
    this.area = root.querySelector('textarea');
    this.paper = root.querySelector('pre');
    this.gutter = root.querySelector('.gutter');
    this.marks = new Map();  // line -> class of its number and background
    this.heat = new Map();   // line -> { text, step }
    this.leaves = false;     // the next Tab leaves
    this.area.addEventListener('input', () => { this.draw(); change(); });
    this.area.addEventListener('keydown', event => this.key(event, run));
    this.area.addEventListener('blur', () => { this.leaves = false; });
    for (const name of ['keyup', 'click']) this.area.addEventListener(name, () => move(this.line));
    this.draw();
  }

  get text() { return this.area.value; }
  set text(text) { this.area.value = text; this.marks.clear(); this.heat.clear(); this.draw(); this.root.scrollTop = 0; }
  get line() { return this.text.slice(0, this.area.selectionStart).split('\n').length; }

  key(event, run) {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); return; }
    if (event.key === 'Escape') { this.leaves = true; return; }
    if (event.key === 'Tab' && !this.leaves && !event.ctrlKey && !event.altKey) {
      event.preventDefault();
      this.indent(event.shiftKey);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      const before = this.text.slice(0, this.area.selectionStart), line = before.slice(before.lastIndexOf('\n') + 1);
      this.insert('\n' + /^[ \t]*/.exec(line)[0] + (/\{\s*$/.test(line) ? '  ' : ''));
    }
    if (event.key !== 'Shift') this.leaves = false;
  }

  // The browser's own way of typing: undo takes it back.
  insert(text) { document.execCommand('insertText', false, text); }

  indent(less) {
    const { selectionStart: start, selectionEnd: end } = this.area;
    if (start === end && !less) { this.insert('  '); return; }
    const from = this.text.lastIndexOf('\n', start - 1) + 1;
    const lines = this.text.slice(from, end).split('\n').map(line => less ? line.replace(/^ {1,2}|^\t/, '') : '  ' + line);
    this.area.setSelectionRange(from, end);
    const made = lines.join('\n');
    this.insert(made);
    this.area.setSelectionRange(from, from + made.length);
  }

  draw() {
    this.paper.innerHTML = coloured(this.text) + '\n';
    this.beside();
  }

  beside() {
    const count = this.text.split('\n').length, rows = [];
    for (let line = 1; line <= count; line++) {
      const heat = this.heat.get(line);
      rows.push(`<span class="${this.marks.get(line) || ''}"><b class="${heat ? 'h' + heat.step : ''}">${heat ? heat.text : ''}</b>${line}</span>`);
    }
    this.gutter.innerHTML = rows.join('');
  }

  mark(lines, kind) {
    for (const [line, was] of this.marks) if (was === kind) this.marks.delete(line);
    for (const line of lines) this.marks.set(line, kind);
    this.beside();
  }

  // Shows the line; `take`: the caret goes there, too.
  show(line, take) {
    const lines = this.text.split('\n'), at = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
    const top = (line - 1) * 20, room = this.root.clientHeight;
    if (top < this.root.scrollTop || top > this.root.scrollTop + room - 40) this.root.scrollTop = Math.max(0, top - room / 3);
    if (take) { this.area.focus({ preventScroll: true }); this.area.setSelectionRange(at, at + lines[line - 1].length); }
  }
}
