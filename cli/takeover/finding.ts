/** The result of a check. */
export interface Finding {
  /** `stop`: the server would not start, or users could not sign in. */
  level: 'ok' | 'note' | 'stop'
  sentence: string
}

export const note = (sentence: string): Finding => ({ level: 'note', sentence })
export const stop = (sentence: string): Finding => ({ level: 'stop', sentence })
export const ok = (sentence: string): Finding => ({ level: 'ok', sentence })
