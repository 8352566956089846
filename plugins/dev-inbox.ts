/**
 * The inbox of the development server: keeps what would have been mailed or texted, in memory, for
 * /dev/inbox and /dev/messages. Outside development there is none.
 */
import { randomUUID } from 'node:crypto'

import { definePlugin } from './define-plugin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** In dev mode only. */
    devInbox: DevInbox | undefined
  }
}

export interface NewInboxMessage {
  channel: 'email' | 'sms'
  /** A mail address, or a phone number. */
  to: string
  /** Null for text messages, like `html`. */
  subject: string | null
  text: string
  html: string | null
  links: string[]
  code: string | null
}

export interface InboxMessage extends NewInboxMessage {
  id: string
  /** ISO 8601. */
  sent_at: string
}

export type DevInbox = ReturnType<typeof createDevInbox>

/** Keeps the newest `limit` messages. */
function createDevInbox(limit: number) {
  let messages: InboxMessage[] = []
  const listeners = new Set<() => void>()
  const changed = () => {
    for (const listener of listeners) listener()
  }

  function add(message: NewInboxMessage, now: Date): void {
    messages = [{ id: randomUUID(), ...message, sent_at: now.toISOString() }, ...messages]
    messages.length = Math.min(messages.length, limit)
    changed()
  }

  return {
    add,

    /** In the place of an SMS provider. */
    async addSms({ phone, text, code }: { phone: string; text: string; code: string }) {
      const to = `+${phone}`
      add({ channel: 'sms', to, subject: null, text, html: null, links: [], code }, new Date())
    },

    /** Puts back what was there before; what has come meanwhile is newer. */
    restore(kept: readonly InboxMessage[]): void {
      messages = [...messages, ...kept].slice(0, limit)
      changed()
    },

    /** Newest first. */
    list: (): readonly InboxMessage[] => messages,

    clear(): void {
      messages = []
      changed()
    },

    /** Calls back after every change until the returned function is called. */
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export default definePlugin({
  name: 'devInbox',
  needs: ['config'],
  create: ({ config }) => (config.dev ? createDevInbox(500) : undefined),
})
