/** The result of a check. */
export interface TakeoverFinding {
  /** `stop`: the server would not start, or users could not sign in. */
  level: 'ok' | 'note' | 'stop'
  sentence: string
}

export const note = (sentence: string): TakeoverFinding => ({ level: 'note', sentence })
export const stop = (sentence: string): TakeoverFinding => ({ level: 'stop', sentence })
export const ok = (sentence: string): TakeoverFinding => ({ level: 'ok', sentence })
