/** Light, dark, or the system's theme. The server reads the cookie, so that the page does not flash. */
import { signal } from '@preact/signals'

import { base } from './base.ts'

export const themes = ['system', 'light', 'dark'] as const
type Theme = (typeof themes)[number]

const root = document.documentElement

export const theme = signal<Theme>(themes.find((each) => each === root.dataset.theme) ?? 'system')

export function setTheme(chosen: Theme): void {
  theme.value = chosen
  if (chosen === 'system') delete root.dataset.theme
  else root.dataset.theme = chosen
  const age = chosen === 'system' ? 0 : 31_536_000
  document.cookie = `postern-console-theme=${chosen}; path=${base}/console; max-age=${age}; samesite=strict`
}
