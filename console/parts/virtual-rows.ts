/** Which rows of a long table are rendered (@tanstack/virtual-core). */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core'
import type { RefObject } from 'preact'
import { useLayoutEffect, useReducer, useState } from 'preact/hooks'

interface Window {
  first: number
  /** Exclusive. */
  end: number
  before: number
  after: number
}

export function useVirtualRows(
  frame: RefObject<HTMLElement>,
  { count, height }: { count: number; height: number },
): Window {
  const [, update] = useReducer((times: number) => times + 1, 0)
  const options = {
    count,
    getScrollElement: () => frame.current,
    estimateSize: () => height,
    overscan: 12,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => update(0),
  }
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options))
  virtualizer.setOptions(options)
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer])
  useLayoutEffect(() => virtualizer._willUpdate())

  const shown = virtualizer.getVirtualItems()
  const first = shown[0]?.index ?? 0
  const end = (shown.at(-1)?.index ?? -1) + 1
  return { first, end, before: first * height, after: Math.max(0, count - end) * height }
}
