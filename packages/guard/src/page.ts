// An element that is named like a property of its document or its form hides that property: with <img name="currentScript">
// in a page `document.currentScript` is the image. Markup of strangers may have names, so this script reads a document and a
// form by their prototypes alone, which no markup reaches.

/** The value of this property, whatever elements of the page are named. */
export const read = <From extends object, Name extends keyof From>(
  { prototype }: { readonly prototype: From },
  name: Name,
  of: From,
): From[Name] => Reflect.get(prototype, name, of);

export const createElement = <Tag extends "input" | "div" | "button">(
  tag: Tag,
): HTMLElementTagNameMap[Tag] =>
  Document.prototype.createElement.call(document, tag) as HTMLElementTagNameMap[Tag];

/** Listens before the page's own scripts. The returned function ends it. */
export const listen = <Type extends "input" | "change" | "submit">(
  type: Type,
  listener: (event: DocumentEventMap[Type]) => void,
): (() => void) => {
  const { prototype } = EventTarget;
  const early = { capture: true };
  const run = listener as EventListener;
  prototype.addEventListener.call(document, type, run, early);
  return () => prototype.removeEventListener.call(document, type, run, early);
};
