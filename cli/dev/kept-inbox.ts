/** The inbox outlives a restart: links and codes in it still work. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { DevInbox, InboxMessage } from '../../plugins/dev-inbox.ts'

/** Puts back what was kept in `dir`, and keeps every change from now on. */
export function keepInbox(inbox: DevInbox, dir: string): void {
  const file = join(dir, 'inbox.json')
  inbox.restore(read(file))
  inbox.subscribe(() => {
    // Written beside and moved: a kill leaves one of the two whole.
    writeFileSync(`${file}.new`, JSON.stringify(inbox.list()), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  })
}

function read(file: string): InboxMessage[] {
  try {
    const messages: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return Array.isArray(messages) ? messages : []
  } catch {
    // None yet, or none that can be read: the next message begins it anew.
    return []
  }
}
