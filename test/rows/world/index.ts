/** A server with every feature switched on, and rows of each kind that its requests read. */
import type { TestContext } from 'node:test'

import { startSmsServer } from '../../support/messages/sms-server.ts'
import { startOpenidProvider } from '../../support/providers/openid-provider.ts'
import { build } from '../../support/server.ts'
import { addAccounts } from './accounts.ts'
import { addClients } from './clients.ts'
import { addOrganization } from './organization.ts'
import { addPending } from './pending.ts'
import { everything } from './settings.ts'

export type World = Awaited<ReturnType<typeof createWorld>>

/** `lines` receives the log. */
export async function createWorld(t: TestContext, lines: string[]) {
  const sms = await startSmsServer()
  t.after(sms.stop)
  const { issuer } = await startOpenidProvider(t, { claimsInIdToken: true, https: true })
  // In dev mode, where providers may be on loopback.
  const { app } = await build(t, { env: { ...sms.env, ...everything }, dev: true, lines })
  const accounts = await addAccounts(app)
  const organization = await addOrganization(app, accounts, issuer)
  const clients = await addClients(app, accounts)
  const pending = await addPending(app, accounts, organization)
  return { app, issuer, ...accounts, ...organization, ...clients, ...pending }
}
