/** What the check says of one thing. */
export interface Finding {
  /** `stop`: the server would not start, or people would be locked out. */
  level: 'ok' | 'note' | 'stop'
  sentence: string
}

export const note = (sentence: string): Finding => ({ level: 'note', sentence })
export const stop = (sentence: string): Finding => ({ level: 'stop', sentence })
export const ok = (sentence: string): Finding => ({ level: 'ok', sentence })
