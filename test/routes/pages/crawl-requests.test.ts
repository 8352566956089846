/**
 * Follows every link and presses every button of the pages that the request of a client leads to: with no, one and two
 * accounts in a browser, and each prompt. No step ends at an error or at a page without a way on.
 */
import { suite, test } from 'node:test'

import { explorer } from './crawl/explore.ts'

suite('every way through the pages of a request', () => {
  const goes = explorer()

  for (const accounts of [0, 1, 2] as const) {
    test(`goes on from the request of a client, with ${accounts} accounts`, async () => {
      await goes({ start: 'authorize', accounts, prompt: '', isBrief: accounts === 2 }, 20)
    })

    for (const prompt of ['none', 'login', 'consent', 'select_account', 'create']) {
      test(`goes on from a request with prompt=${prompt}, with ${accounts} accounts`, async () => {
        const minSteps = prompt === 'none' ? 1 : 20
        await goes({ start: 'authorize', accounts, prompt, isBrief: true }, minSteps)
      })
    }
  }
})
