/**
 * Runs next to PostgREST: writes our JWKS to a file for it, and makes it reload the file when the set changed. A new
 * key is published long before it signs, so polling once a minute is enough. It connects as PostgREST does: any login
 * may send a notification.
 */
import { rename, writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

import pg from 'pg'

/** Polling interval in seconds. */
const every = Number(process.env.JWKS_INTERVAL ?? 60)

function setting(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set`)
  return value
}

const [databaseUrl, jwksUrl, file] = ['DATABASE_URL', 'JWKS_URL', 'JWKS_FILE'].map(setting) as [
  string,
  string,
  string,
]

async function tell(): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query("notify pgrst, 'reload config'")
  } finally {
    await client.end()
  }
}

/** The set that PostgREST last loaded. */
let published = ''

async function refreshKeys(): Promise<void> {
  const response = await fetch(jwksUrl, { signal: AbortSignal.timeout(5_000) })
  if (!response.ok) throw new Error(`the key set responded with status ${response.status}`)
  const keys = await response.text()
  if (keys === published) return
  // Written atomically, because PostgREST may read at any moment.
  await writeFile(`${file}.new`, keys)
  await rename(`${file}.new`, file)
  await tell()
  published = keys
  console.log('the key set changed; PostgREST was notified')
}

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0))
for (;;) {
  // An unavailable server or database is retried later; the file keeps the last set.
  await refreshKeys().catch((error) => console.error(String(error)))
  await pause(every * 1000)
}
