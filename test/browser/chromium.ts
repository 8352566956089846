/** A real browser that can reach only the addresses given by a test. */
import { existsSync } from 'node:fs'

import { chromium } from 'playwright-core'

import type { Ending } from '../support/processes/ending.ts'

const places = [
  process.env.CHROMIUM_PATH ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/** Undefined when no browser is installed. */
export const executablePath = places.find((path) => path !== '' && existsSync(path))

/** `hosts`: names to addresses, as `127.0.0.1:port`. */
export async function openBrowser(t: Ending, hosts: Record<string, string>) {
  const rules = Object.entries(hosts).map(([name, address]) => `MAP ${name} ${address}`)
  const browser = await chromium.launch({
    executablePath: executablePath ?? '',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--no-first-run',
      '--disable-component-update',
      '--disable-sync',
      '--disable-features=HttpsUpgrades',
      `--host-resolver-rules=${[...rules, 'MAP * ~NOTFOUND', 'EXCLUDE 127.0.0.1', 'EXCLUDE localhost'].join(',')}`,
    ],
  })
  t.after(() => browser.close())
  return browser
}
