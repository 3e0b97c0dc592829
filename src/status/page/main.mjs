// Puts the page together and keeps it up to date.
import { Traffic } from './charts.mjs';
import { Connection, tokenOf } from './connection.mjs';
import { h, render } from './dom.mjs';
import { EventLog } from './event_log.mjs';
import { isNumber, seconds, span, text } from './format.mjs';
import { latencySection } from './histogram.mjs';
import { callerSection, ringSection, sensorSection, serviceSection } from './messages.mjs';
import { overview, states, titleOf } from './overview.mjs';
import { badge, list, mark } from './parts.mjs';
import { streamSection } from './streams.mjs';
import { boardSection, deviceSection, engineSection, handshakeSection, pairSection } from './system.mjs';
import { startTheme } from './theme.mjs';
import { Movements, troubleSection } from './troubles.mjs';

const byId = id => document.getElementById(id);
const now = () => performance.now() / 1000;

const traffic = new Traffic(byId('traffic'));
const log = new EventLog();
const movements = new Movements();
let latest = null; // The document shown.
let heard = now(); // When the server last said something.
let link = { kind: 'connecting', why: '' };
let known = new Map(); // States, by what they are of.

function announce(words) {
  render(byId('announcer'), h('p', { key: String(now()) }, words));
}

function notice(what) {
  log.add(new Date().toISOString(), 'page', what);
  announce(what);
}

function tellChanges(doc) {
  const before = known;
  known = new Map(states(doc));
  for (const [what, state] of known) {
    if (before.has(what) && before.get(what) !== state) notice(`${what}: ${before.get(what)} → ${state}`);
  }
}

function tellRestart(doc) {
  const before = latest?.process;
  if (!before || !doc.process) return;
  if (before.pid !== doc.process.pid || before.uptime_seconds > doc.process.uptime_seconds)
    notice(`the server was started anew, as process ${text(doc.process.pid)}`);
}

function showLink() {
  const shown = {
    connecting: ['connecting', 'busy'],
    events: ['live', 'good'],
    polling: ['live, asked every second', 'good'],
    lost: ['no answer', 'bad'],
    denied: ['refused', 'bad'],
  }[link.kind];
  render(byId('link'), badge(...shown));
}

function lostBanner() {
  const silent = now() - heard;
  if (link.kind === 'denied') {
    return h(
      'div',
      { class: 'banner bad', key: 'link' },
      mark('bad'),
      h(
        'p',
        null,
        h('b', null, 'The server wants a token. '),
        'Open this page with ',
        h('span', { class: 'code' }, '#token=…'),
        ' at the end of its address.',
      ),
    );
  }
  if (link.kind !== 'lost') return null;
  return h(
    'div',
    { class: 'banner bad', key: 'link' },
    mark('bad'),
    h(
      'p',
      null,
      h('b', null, `No answer from the server since ${span(silent)}; trying again. `),
      latest ? 'What you see is from before.' : '',
      /^the server/.test(link.why) ? ` (${link.why})` : '',
    ),
  );
}

function staleBanners() {
  return list(latest?.stale).map(part =>
    h(
      'div',
      { class: 'banner warn', key: `stale/${part.part}` },
      mark('busy'),
      h(
        'p',
        null,
        h('b', null, `${text(part.part)} is stale: `),
        isNumber(part.age_seconds) ? `what is shown of it is ${seconds(part.age_seconds)} old. ` : '',
        part.reason ? `Reason: ${part.reason}.` : '',
      ),
    ),
  );
}

function showBanners() {
  document.body.classList.toggle('lost', link.kind === 'lost' || link.kind === 'denied');
  render(byId('banners'), lostBanner(), link.kind === 'lost' ? null : staleBanners());
}

function showProcess(process) {
  render(byId('name'), process?.name || 'rocio');
  render(
    byId('process'),
    `version ${text(process?.version)}, up ${span(process?.uptime_seconds)}, process ${text(process?.pid)}`,
  );
  render(
    byId('footer'),
    h(
      'p',
      null,
      `rocio ${text(process?.version)}, ${text(process?.build)}. The same as `,
      h('a', { href: 'status' }, 'JSON'),
      ' and for ',
      h('a', { href: 'metrics' }, 'Prometheus'),
      '.',
    ),
  );
}

function sectionsOf(doc) {
  return [streamSection, ringSection, sensorSection, serviceSection, callerSection]
    .map(make => make(doc))
    .concat(
      troubleSection(doc, movements, now()),
      latencySection(doc),
      [engineSection, deviceSection, pairSection, boardSection, handshakeSection].map(make => make(doc)),
      log.section(),
    )
    .filter(Boolean);
}

function show() {
  const doc = latest;
  if (!doc) return;
  const first = overview(doc, movements, now(), Math.max(280, byId('content').clientWidth));
  const others = sectionsOf(doc);
  render(
    byId('overview'),
    first.map(part => part.node),
  );
  render(
    byId('rest'),
    others.map(part => part.node),
  );
  const links = [
    ...first,
    ...(traffic.empty ? [] : [{ id: 'traffic-section', title: 'Traffic' }]),
    ...others,
  ];
  render(
    byId('sections'),
    h(
      'ul',
      null,
      links.map(({ id, title }) => h('li', { key: id }, h('a', { href: `#${id}` }, title))),
    ),
  );
  showProcess(doc.process);
  document.title = titleOf(doc);
}

function takeDocument(doc) {
  heard = now();
  tellRestart(doc);
  latest = doc;
  tellChanges(doc);
  movements.look(doc, now());
  log.look(doc);
  traffic.add(doc);
  show();
  showBanners();
}

function takeState(kind, why) {
  const was = link.kind;
  link = { kind, why };
  const lost = state => state === 'lost' || state === 'denied';
  if (lost(kind) && !lost(was)) {
    traffic.gap();
    notice(kind === 'denied' ? 'the server wants a token' : 'no answer from the server');
  }
  if (!lost(kind)) {
    heard = now();
    if (lost(was)) notice('the server answers again');
  }
  showLink();
  showBanners();
  show();
}

function takeDevice(event) {
  log.add(event.time, event.device, event.text);
  announce(`device ${event.device}: ${event.text}`);
  show();
}

// Kept here: links within the page put their own fragment in the place of the token.
let token = tokenOf(location.hash);
const connection = new Connection(
  { document: takeDocument, state: takeState, device: takeDevice },
  () => token,
);

startTheme(byId('theme'), () => {
  traffic.redraw();
  show();
});
showLink();
setInterval(showBanners, 1000);
addEventListener('resize', show);
addEventListener('online', () => connection.retry());
addEventListener('hashchange', () => {
  const given = tokenOf(location.hash);
  if (!given || given === token) return;
  token = given;
  connection.restart();
});
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) connection.retry();
});
connection.run();
