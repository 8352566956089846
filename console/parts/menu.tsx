import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface MenuProps {
  label: string
  /** Keeps the menu open after a choice, for multiple choices. */
  keepOpen?: boolean
  children: ComponentChildren
}

/** A menu of buttons and links. Escape, a choice, and a click or the focus outside close it. */
export function Menu({ label, keepOpen, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null)
  const close = () => {
    if (menu.current) menu.current.open = false
  }
  const closeFocused = () => {
    close()
    menu.current?.querySelector('summary')?.focus()
  }
  useEffect(() => {
    const onClick = ({ target }: MouseEvent) => {
      if (target instanceof Node && !menu.current?.contains(target)) close()
    }
    addEventListener('click', onClick)
    return () => removeEventListener('click', onClick)
  }, [])
  // Before the choice opens a dialog, which gives the focus back to where it was.
  const onClickCapture = ({ target }: MouseEvent) => {
    if (!keepOpen && target instanceof Element && target.closest('.items')) closeFocused()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !menu.current?.open) return
    event.stopPropagation()
    closeFocused()
  }
  const onFocusOut = ({ relatedTarget }: FocusEvent) => {
    if (relatedTarget instanceof Node && !menu.current?.contains(relatedTarget)) close()
  }
  return (
    <details class="menu" ref={menu} {...{ onClickCapture, onKeyDown, onFocusOut }}>
      <summary class="button">
        {label} <span aria-hidden="true">▾</span>
      </summary>
      <div class="items">{children}</div>
    </details>
  )
}
