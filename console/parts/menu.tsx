import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface MenuProps {
  label: string
  /** Keeps the menu open after a choice, for multiple choices. */
  keepOpen?: boolean
  children: ComponentChildren
}

/** A menu of buttons and links. Escape, a choice and a click outside close it. */
export function Menu({ label, keepOpen, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null)
  const close = () => {
    if (menu.current) menu.current.open = false
  }
  useEffect(() => {
    const onClick = ({ target }: MouseEvent) => {
      if (!(target instanceof Element)) return
      const isOwn = menu.current?.contains(target) ?? false
      const isChoice = isOwn && !keepOpen && target.closest('.items') !== null
      if (!isOwn || isChoice) close()
    }
    addEventListener('click', onClick)
    return () => removeEventListener('click', onClick)
  }, [keepOpen])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !menu.current?.open) return
    event.stopPropagation()
    close()
    menu.current.querySelector('summary')?.focus()
  }
  return (
    <details class="menu" ref={menu} onKeyDown={onKeyDown}>
      <summary class="button">{label} ▾</summary>
      <div class="items">{children}</div>
    </details>
  )
}
