/** The documentation site in a browser: links to headings, the contents of a page, copied code blocks. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { executablePath } from './chromium.ts'
import { openDevSite } from './dev-site.ts'

const skip = executablePath === undefined && 'no Chromium is installed (CHROMIUM_PATH)'

suite('documentation site in a browser', { skip }, () => {
  for (const width of [360, 1280]) {
    test(`opens pages at the top and scrolls to a linked heading at ${width} px`, async (t) => {
      const site = await openDevSite(t)
      const page = await site.another({ viewport: { width, height: 600 } })
      const open = async (link: string) => {
        await page.goto('about:blank')
        await page.goto(`${site.url}/docs/guide/${link}`)
        await page.waitForLoadState('networkidle')
      }
      for (const path of ['getting-started', 'benchmarks', 'decisions/2026-11-22-events']) {
        await open(path)
        assert.equal(await page.evaluate('scrollY'), 0, path)
      }
      for (const link of ['operations#keys', 'sessions#devices', 'configuration#passwords']) {
        await open(link)
        const top = Number(await page.evaluate(getTopScript(link.split('#')[1] ?? '')))
        assert.ok(top >= 8 && top < 40, `${link}: ${top}`)
      }
    })
  }

  test('lists the headings of a page and copies a code block by its button', async (t) => {
    const site = await openDevSite(t)
    const page = await site.another({ permissions: ['clipboard-read', 'clipboard-write'] })
    await page.goto(`${site.url}/docs/guide/passkeys`)
    await page.getByText('On this page').click()
    const contents = page.getByRole('navigation', { name: 'On this page' })
    await contents.getByRole('link', { name: 'API sequence' }).click()
    await page.waitForURL(/#api-sequence$/)
    const block = page.locator('.block', { hasText: 'signInWithPasskey' })
    await block.getByRole('button', { name: 'Copy' }).click()
    await block.getByRole('button', { name: 'Copied' }).waitFor()
    assert.equal(
      String(await page.evaluate('navigator.clipboard.readText()')).trim(),
      'const { data, error } = await supabase.auth.signInWithPasskey()',
    )
  })
})

/** A string, because this program has no DOM types. */
const getTopScript = (id: string) => `document.getElementById('${id}')?.getBoundingClientRect().top`
