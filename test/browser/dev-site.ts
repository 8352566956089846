/** The pages of `npm run dev` in a browser: the presets of development, on a reserved port. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'

import type { BrowserContextOptions, Page } from 'playwright-core'

import { withPresets } from '../../cli/dev/presets.ts'
import { buildDocs } from '../../dev/docs/build.ts'
import { freePort } from '../support/processes/free-port.ts'
import { waitTimeoutMs } from '../support/processes/until.ts'
import { build } from '../support/server.ts'
import { openBrowser } from './chromium.ts'

export interface DevSite {
  page: Page
  /** As the server names itself. */
  url: string
  /** The same under the name for which browsers make passkeys. */
  local: string
  /** The newest message to this address or number after the previous one. */
  message(to: string): Promise<{ code: string; link: string }>
  /** Another page of the same browser, as another user would have it. */
  another(options: BrowserContextOptions): Promise<Page>
}

export async function openDevSite(t: TestContext): Promise<DevSite> {
  const port = String(await freePort())
  const presets = withPresets({ AUTH_SMTP_HOST: '', AUTH_SMTP_ADMIN_EMAIL: '', PORT: port }, {})
  await buildDocs()
  const { app } = await build(t, { dev: true, env: texts(presets) })
  await app.listen({ host: '127.0.0.1', port: Number(port) })
  const browser = await openBrowser(t, {})
  const another = async (options: BrowserContextOptions) => {
    const page = await (await browser.newContext(options)).newPage()
    page.setDefaultTimeout(waitTimeoutMs)
    return page
  }
  const inbox = app.devInbox
  assert.ok(inbox)
  const seen = new Set<string>()
  async function message(to: string) {
    const unread = () => inbox?.list().find((each) => each.to === to && !seen.has(each.id))
    if (unread() === undefined) {
      await new Promise<void>((resolve) => {
        const stop = inbox?.subscribe(() => {
          if (unread() === undefined) return
          stop?.()
          resolve()
        })
      })
    }
    const { id = '', code, links = [] } = unread() ?? {}
    seen.add(id)
    return { code: code ?? '', link: links[0] ?? '' }
  }
  const addresses = { url: `http://127.0.0.1:${port}`, local: `http://localhost:${port}` }
  return { page: await another({}), ...addresses, message, another }
}

function texts(values: Record<string, string | undefined>): Record<string, string> {
  const set = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  )
  return Object.fromEntries(set)
}
