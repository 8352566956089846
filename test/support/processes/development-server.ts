/** A server with the settings of `npm run dev`, in this process, with the Postgres of the tests. */
import { withPresets } from '../../../cli/dev/presets.ts'
import { build } from '../server.ts'
import type { Ending } from './ending.ts'
import { freePort } from './free-port.ts'

/** Listens until the test or the suite ends. `more` are variables, with the port where the server will listen. */
export async function startDevelopmentServer(
  ending: Ending,
  more: (port: string) => Record<string, string> = () => ({}),
) {
  const port = String(await freePort())
  // Without a mail server, emails are collected in the inbox.
  const own = { PORT: port, AUTH_SMTP_HOST: '', AUTH_SMTP_ADMIN_EMAIL: '' }
  const presets = withPresets({ ...own, ...more(port) }, {})
  const env = Object.fromEntries(
    Object.entries(presets).map(([name, value]) => [name, value ?? '']),
  )
  const { app } = await build(ending, { dev: true, env })
  return { app, url: await app.listen({ host: '127.0.0.1', port: Number(port) }) }
}
