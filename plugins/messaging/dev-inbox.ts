/**
 * The inbox of the development server: keeps emails and SMS in memory instead of sending them, for /dev/inbox and
 * /dev/messages. It exists in development only.
 */
import { randomUUID } from 'node:crypto'

import { definePlugin } from '../define-plugin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Set in development mode only. */
    devInbox: DevInbox | undefined
  }
}

interface NewInboxMessage {
  channel: 'email' | 'sms'
  /** An email address or a phone number. */
  to: string
  /** Null for SMS messages, like `html`. */
  subject: string | null
  text: string
  html: string | null
  /** Links of the HTML, in their order. */
  links: string[]
  code: string | null
  /** Template errors such as a misspelt variable. */
  problems: string[]
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

    /** Replaces an SMS provider. */
    async addSms({ phone, text, code }: { phone: string; text: string; code: string }) {
      const to = `+${phone}`
      const rest = { subject: null, html: null, links: [], problems: [] }
      add({ channel: 'sms', to, text, code, ...rest }, new Date())
    },

    /** Restores earlier messages; they are listed after those that arrived since. */
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
  deps: ['config'],
  create: ({ config }) => (config.dev ? createDevInbox(500) : undefined),
})
