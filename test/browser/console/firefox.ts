/** Firefox, driven by WebDriver BiDi: headless, with a profile of its own, by role and accessible name. */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Ending } from '../../support/processes/ending.ts'
import { waitTimeoutMs } from '../../support/processes/until.ts'

const places = [process.env.FIREFOX_PATH ?? '', '/usr/bin/firefox-esr', '/usr/bin/firefox']

/** Undefined when no Firefox is installed. */
export const firefoxPath = places.find((path) => path !== '' && existsSync(path))

/** What these tests use of puppeteer-core. */
interface Element {
  click(): Promise<void>
  type(text: string): Promise<void>
}

interface Tab {
  goto(url: string): Promise<unknown>
  url(): string
  locator(selector: string): { waitHandle(): Promise<Element> }
  setDefaultTimeout(ms: number): void
}

interface Library {
  launch(options: object): Promise<{ newPage(): Promise<Tab>; close(): Promise<void> }>
}

/** A page of a new Firefox. */
export async function openFirefox(t: Ending) {
  // Loaded only with an installed browser: without one, the tests are skipped.
  const library: Library = createRequire(import.meta.url)('puppeteer-core')
  const userDataDir = await mkdtemp(join(tmpdir(), 'postern-firefox-'))
  const browser = await library.launch({
    browser: 'firefox',
    executablePath: firefoxPath,
    headless: true,
    userDataDir,
    protocolTimeout: waitTimeoutMs,
    timeout: waitTimeoutMs,
  })
  t.after(async () => {
    await browser.close()
    await rm(userDataDir, { recursive: true, force: true })
  })
  const page = await browser.newPage()
  page.setDefaultTimeout(waitTimeoutMs)
  return actionsOn(page)
}

function actionsOn(page: Tab) {
  /** An element by its accessible name, and by its role where elements of several roles have the name. */
  const find = (name: string, role?: string): Promise<Element> => {
    const roleIs = role ? `[role="${role}"]` : ''
    return page.locator(`::-p-aria([name="${name}"]${roleIs})`).waitHandle()
  }

  return {
    page,
    find,
    press: async (name: string, role = 'button') => (await find(name, role)).click(),
    fill: async (name: string, text: string) => (await find(name)).type(text),
    pressText: async (text: string) =>
      (await page.locator(`::-p-text(${text})`).waitHandle()).click(),
  }
}
