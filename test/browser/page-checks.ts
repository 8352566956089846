/** Layout and accessibility errors of a page. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

import { until } from '../support/processes/until.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8')

/** Elements wider than the screen. A string, because this program has no DOM types. */
export async function tooWide(page: Page): Promise<unknown> {
  return page.evaluate(`
    document.documentElement.scrollWidth > innerWidth
      ? [...document.querySelectorAll('body *')]
          .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
          .map((element) => element.outerHTML.slice(0, 120))
      : []
  `)
}

/** Serious and critical issues of axe, with their places. */
export async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const results: AxeResults = JSON.parse(
    String(await page.evaluate('axe.run().then((results) => JSON.stringify(results))')),
  )
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, any }) => `${id}: ${target} ${any[0]?.message ?? ''}`),
    )
}

/** How many parts are loading, and the size of the page. */
const progress = `[document.querySelectorAll('[aria-label=Loading]').length, document.body.innerHTML.length]`

/** Waits until a page of the console has loaded: it shows no loading state and does not change. */
export async function settled(page: Page): Promise<void> {
  let before = ''
  await until(
    async () => {
      const now = JSON.stringify(await page.evaluate(progress))
      const isSettled = now === before && now.startsWith('[0,')
      before = now
      return isSettled
    },
    { everyMs: 100, missing: 'the page still loads' },
  )
}
