// Light or dark: as the system says, or as chosen here.
import { h, render } from './dom.mjs';

const CHOICES = ['auto', 'light', 'dark'];
const NAMES = { auto: 'as the system', light: 'light', dark: 'dark' };
const KEY = 'rocio.theme';

function stored() {
  try {
    const value = localStorage.getItem(KEY);
    return CHOICES.includes(value) ? value : 'auto';
  } catch {
    return 'auto'; // Storage may be forbidden.
  }
}

function store(choice) {
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // Then it holds until the page is closed.
  }
}

const THEME_SHAPES = {
  auto: () => h('path', { d: 'M8 2a6 6 0 0 0 0 12z', class: 'filled' }),
  light: () => h('circle', { cx: 8, cy: 8, r: 2.5, class: 'filled' }),
  dark: () => h('circle', { cx: 8, cy: 8, r: 6, class: 'filled' }),
};

function showTheme(button, choice) {
  document.documentElement.dataset.theme = choice;
  render(
    button,
    h(
      'svg',
      { viewBox: '0 0 16 16', 'aria-hidden': 'true', class: 'theme-icon' },
      h('circle', { cx: 8, cy: 8, r: 6 }),
      THEME_SHAPES[choice](),
    ),
    h('span', null, `Theme: ${NAMES[choice]}`),
  );
}

/** Makes the button step through the choices; changed() after each, and when the system changes. */
export function startTheme(button, changed) {
  let choice = stored();
  button.replaceChildren();
  showTheme(button, choice);
  button.addEventListener('click', () => {
    choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
    store(choice);
    showTheme(button, choice);
    changed();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed);
}

export const colour = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
