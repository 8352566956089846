/** Persists the inbox across restarts: its links and codes stay valid. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { DevInbox, InboxMessage } from '../../plugins/messaging/dev-inbox.ts'

/** Restores the inbox from `dir` and persists every change. */
export function persistDevInbox(inbox: DevInbox, dir: string): void {
  const file = join(dir, 'inbox.json')
  inbox.restore(read(file))
  inbox.subscribe(() => {
    // Written to a new file and renamed, so that a kill leaves a complete one.
    writeFileSync(`${file}.new`, JSON.stringify(inbox.list()), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  })
}

function read(file: string): InboxMessage[] {
  try {
    const messages: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return Array.isArray(messages) ? messages : []
  } catch {
    // Missing or unreadable: the inbox starts empty.
    return []
  }
}
