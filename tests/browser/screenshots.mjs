// Pictures of the page of a running server: node screenshots.mjs URL FOLDER [SECONDS]
//
// status-light.png, status-dark.png and status-phone.png, after the page has watched for SECONDS (default 20). For
// docs/images: rocio demo --http 127.0.0.1:8080 --rate 20000 --seconds 300, then this.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { DESK, PHONE, launch, openPage } from './support/browser.mjs';

export const PICTURES = [
  { name: 'status-light.png', viewport: { ...DESK, height: 1180 }, colorScheme: 'light' },
  { name: 'status-dark.png', viewport: { ...DESK, height: 1180 }, colorScheme: 'dark' },
  { name: 'status-phone.png', viewport: PHONE, colorScheme: 'light' },
];

/** watch(pages): what happens between opening all three and taking the pictures. Gives the files. */
export async function takePictures(browser, url, folder, watch) {
  const pages = [];
  for (const picture of PICTURES) {
    const page = await openPage(browser, url, picture);
    await page.waitForSelector('#rest section');
    pages.push(page);
  }
  await watch(pages);
  const files = [];
  for (const [i, { name }] of PICTURES.entries()) {
    files.push(path.join(folder, name));
    await pages[i].screenshot({ path: files[i] });
    await pages[i].context().close();
  }
  return files;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [url, folder, seconds = '20'] = process.argv.slice(2);
  const browser = await launch();
  const files = await takePictures(browser, url, folder, pages =>
    pages[0].waitForTimeout(1000 * Number(seconds)),
  );
  await browser.close();
  console.log(files.join('\n'));
}
