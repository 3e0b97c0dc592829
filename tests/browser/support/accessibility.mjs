// What a screen reader, a keyboard and weak eyes need of the page, checked in the page itself.

/** Texts about what is wrong; none if all is well. */
export const structureBreaches = page =>
  page.evaluate(() => {
    const wrong = [];
    const all = selector => [...document.querySelectorAll(selector)];
    const shownAt = element => element.outerHTML.slice(0, 100);
    if (document.documentElement.lang !== 'en') wrong.push('the document has no language');
    for (const selector of ['h1', 'main', 'header', 'nav', 'footer']) {
      if (all(selector).length !== 1) wrong.push(`${all(selector).length} of ${selector}`);
    }
    const ids = all('[id]').map(element => element.id);
    for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) wrong.push(`two of id ${id}`);
    let level = 0;
    for (const heading of all('h1, h2, h3, h4')) {
      const own = Number(heading.tagName[1]);
      if (own > level + 1) wrong.push(`heading ${heading.textContent} skips a level`);
      level = own;
    }
    for (const element of all('[role="img"]'))
      if (!element.getAttribute('aria-label')) wrong.push(`no text for ${shownAt(element)}`);
    for (const element of all('svg:not([role="img"]):not([aria-hidden="true"])'))
      wrong.push(`neither hidden nor named: ${shownAt(element)}`);
    for (const element of all('canvas'))
      if (!element.closest('[role="img"]')) wrong.push('a canvas without a text');
    for (const table of all('table')) {
      if (!table.caption?.textContent) wrong.push(`no caption: ${shownAt(table)}`);
      for (const head of table.querySelectorAll('th'))
        if (!head.scope) wrong.push(`no scope: ${shownAt(head)}`);
    }
    for (const element of all('section')) {
      if (!document.getElementById(element.getAttribute('aria-labelledby')))
        wrong.push(`section without a name: ${shownAt(element)}`);
    }
    for (const element of all('button, a, summary'))
      if (!element.textContent.trim()) wrong.push(`no name: ${shownAt(element)}`);
    for (const element of all('a[href^="#"]')) {
      if (!document.getElementById(element.getAttribute('href').slice(1)))
        wrong.push(`leads nowhere: ${shownAt(element)}`);
    }
    for (const element of all('[aria-live]'))
      if (element.closest('#banners')) wrong.push('a live region that changes every second');
    return wrong;
  });

/** Texts with less contrast than WCAG 2.2 AA asks for: 4.5, or 3 where they are large. */
export const contrastBreaches = page =>
  page.evaluate(() => {
    const channels = colour => colour.match(/[\d.]+/g).map(Number);
    const luminance = ([r, g, b]) =>
      [r, g, b]
        .map(c => c / 255)
        .map(c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const contrast = (a, b) => {
      const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
      return (high + 0.05) / (low + 0.05);
    };
    const behind = element => {
      for (let at = element; at; at = at.parentElement) {
        const frame = at.namespaceURI.endsWith('svg') && at.querySelector(':scope > .box-frame');
        if (frame) return channels(getComputedStyle(frame).fill);
        const colour = channels(getComputedStyle(at).backgroundColor);
        if ((colour[3] ?? 1) === 1) return colour;
      }
      return [255, 255, 255];
    };
    const wrong = [];
    let looked = 0;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      if (
        !walker.currentNode.nodeValue.trim() ||
        !element.checkVisibility() ||
        element.closest('script, style, title, noscript')
      )
        continue;
      const style = getComputedStyle(element);
      const ratio = contrast(
        channels(element.namespaceURI.endsWith('svg') ? style.fill : style.color),
        behind(element),
      );
      const size = parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      ++looked;
      if (ratio < (large ? 3 : 4.5))
        wrong.push(
          `${ratio.toFixed(2)}: ${walker.currentNode.nodeValue.slice(0, 40)} (${element.className})`,
        );
    }
    if (looked < 50) wrong.push(`only ${looked} texts looked at`);
    return wrong;
  });
